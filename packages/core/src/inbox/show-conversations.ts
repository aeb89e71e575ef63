import type { Account } from '../accounts/account.ts'
import { limits } from '../limits.ts'
import type { FoundMessage } from '../messages/message-trace.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { MessageStatus } from '../messages/messages.ts'
import { parseStoredMsisdn, type Msisdn } from '../messages/msisdn.ts'
import type { Ports } from '../ports.ts'
import { daysBefore, type Instant } from '../time/instant.ts'
import type { Conversation, ConversationsPage, InboundMessageId, InboxMessage } from './inbox.ts'

export interface ConversationList {
  readonly conversations: readonly Conversation[]
  /** Value of `before` for the next page, or undefined on the last page. */
  readonly next: InboundMessageId | undefined
}

/** Lists the conversations of the last 90 days, latest first. */
export const listConversations =
  (ports: Pick<Ports, 'inbox' | 'clock'>) =>
  async (account: Account, page: ConversationsPage): Promise<ConversationList> => {
    const since = daysBefore(ports.clock.now(), limits.inboxDays)
    const found = await ports.inbox.listConversations(account.id, since, { ...page, limit: page.limit + 1 })
    const conversations = found.slice(0, page.limit)
    return { conversations, next: found.length > page.limit ? conversations.at(-1)?.last.id : undefined }
  }

/** Conversations with unread messages are counted up to this number. */
export const unreadMax = 100

/** Counts the conversations of the last 90 days with unread messages, up to `unreadMax`. */
export const countUnread =
  (ports: Pick<Ports, 'inbox' | 'clock'>) =>
  (account: Account): Promise<number> =>
    ports.inbox.countUnreadConversations(account.id, daysBefore(ports.clock.now(), limits.inboxDays), unreadMax)

export type ConversationLine =
  | { readonly at: Instant; readonly received: InboxMessage }
  | { readonly at: Instant; readonly sent: FoundMessage; readonly text: string; readonly status: MessageStatus }

/**
 * Position in a conversation: the oldest lines of the page shown last. The next page has older lines. Without a
 * position, a page starts at the latest line.
 */
export interface ConversationPlace {
  readonly received?: InboundMessageId | undefined
  readonly sent?: MessageId | undefined
}

export interface ShownConversation {
  /** Number of the person. Undefined if the sender is not a number and cannot be answered. */
  readonly number: Msisdn | undefined
  /** Value for `markRead` after the conversation was displayed. */
  readonly arrived: number
  readonly unread: number
  /** Messages from and to the person, latest first. */
  readonly lines: readonly ConversationLine[]
  /** Start of the next page, or undefined if there are no older lines. */
  readonly next: ConversationPlace | undefined
}

/**
 * Returns the messages between an account and a person of the last 90 days, or undefined if no message of the person is
 * stored.
 */
export const showConversation =
  (ports: Pick<Ports, 'inbox' | 'sentMessages' | 'messages' | 'personalData' | 'clock'>) =>
  async (account: Account, from: string, place: ConversationPlace, limit: number) => {
    const since = daysBefore(ports.clock.now(), limits.inboxDays)
    const number = parseStoredMsisdn(from)
    const [received, sent] = await Promise.all([
      ports.inbox.findConversation(account.id, from, since, { before: place.received, limit: limit + 1 }),
      number === undefined ? [] : sentTo(ports, account, number, place.sent, since, limit + 1),
    ])
    if (received === undefined) return undefined
    const all: ConversationLine[] = [...received.messages.map((one) => ({ at: one.at, received: one })), ...sent]
    const lines = all.sort((a, b) => b.at - a.at).slice(0, limit)
    const shown: ShownConversation = {
      ...{ number, arrived: received.arrived, unread: received.arrived - received.read, lines },
      next: all.length > limit ? lastOf(lines, place) : undefined,
    }
    return shown
  }

function lastOf(lines: readonly ConversationLine[], { received, sent }: ConversationPlace): ConversationPlace {
  const lastReceived = lines.findLast((line) => 'received' in line)
  const lastSent = lines.findLast((line) => 'sent' in line)
  return { received: lastReceived?.received.id ?? received, sent: lastSent?.sent.id ?? sent }
}

async function sentTo(
  ports: Pick<Ports, 'sentMessages' | 'messages' | 'personalData'>,
  account: Account,
  number: Msisdn,
  after: MessageId | undefined,
  since: Instant,
  limit: number,
): Promise<readonly ConversationLine[]> {
  const trace = after === undefined ? undefined : await ports.sentMessages.trace(after)
  if (after !== undefined && trace?.account !== account.id) return []
  const before = trace && { id: trace.id, due: trace.scheduled ?? trace.accepted }
  const found = await ports.sentMessages.search({ number, account: account.id, after: before }, since, limit)
  const ids = found.map(({ id }) => id)
  const [texts, statuses] = await Promise.all([
    ports.personalData.texts(ids),
    ports.messages.status(account.id, ids, since),
  ])
  return found.map((sent, i) => {
    const status = statuses[i] ?? ('not-found' as const)
    return { at: sent.due, sent, text: texts.get(sent.id) ?? '', status }
  })
}
