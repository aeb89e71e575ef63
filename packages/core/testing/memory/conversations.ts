import type { AccountId } from '@gateway/core/accounts'
import type { InboundMessageId, Inbox, InboxMessage } from '@gateway/core/inbox'
import type { Instant } from '@gateway/core/time'
import { atomic } from './atomic.ts'
import type { InboundMessageRow } from './rows.ts'
import type { MemoryStore } from './store.ts'

type ConversationPart = Pick<Inbox, 'listConversations' | 'findConversation' | 'markRead' | 'countUnreadConversations'>

export const shown = ({ id, from, at, text, answers, shortCode }: InboundMessageRow): InboxMessage => ({
  id,
  from,
  at,
  text,
  answers,
  shortCode,
})

export function memoryConversations(store: MemoryStore): ConversationPart {
  const marksOf = (by: AccountId, from: string) => store.conversations.get(by)?.get(from)

  /** Returns the inbound messages of a person, the latest first. */
  const received = (by: AccountId, from: string, since: Instant): readonly InboundMessageRow[] =>
    store.inboundMessages.filter((row) => row.account === by && row.from === from && row.at >= since).toReversed()

  const listed = (by: AccountId, since: Instant) =>
    [...(store.conversations.get(by) ?? [])]
      .flatMap(([from, { arrived, read }]) => {
        const last = received(by, from, since)[0]
        return last === undefined ? [] : [{ last: shown(last), unread: arrived - read }]
      })
      .sort((a, b) => b.last.id - a.last.id)
  const isBefore = (before: InboundMessageId | undefined, id: InboundMessageId) => before === undefined || id < before

  return {
    listConversations: atomic((by, since, { unreadOnly, before, limit }) =>
      listed(by, since)
        .filter(({ last, unread }) => isBefore(before, last.id) && (!unreadOnly || unread > 0))
        .slice(0, limit),
    ),
    findConversation: atomic((by, from, since, { before, limit }) => {
      const marks = marksOf(by, from)
      const all = received(by, from, since)
      if (marks === undefined || all.length === 0) return undefined
      const messages = all.filter(({ id }) => isBefore(before, id)).slice(0, limit)
      return { ...marks, messages: messages.map(shown) }
    }),
    markRead: atomic((by, from, arrived) => {
      const marks = marksOf(by, from)
      if (marks !== undefined) marks.read = Math.max(marks.read, Math.min(arrived, marks.arrived))
    }),
    countUnreadConversations: atomic((by, since, most) =>
      Math.min(most, listed(by, since).filter(({ unread }) => unread > 0).length),
    ),
  }
}
