import {
  credits,
  isTaken,
  plus,
  type AccountId,
  type SentCount,
  type SentMessage,
  type SentMessages,
} from '@gateway/core'
import { atomic } from './atomic.ts'
import { outcomeOf } from './decide.ts'
import type { MessageRow } from './rows.ts'
import type { MemoryStore } from './store.ts'

export function memorySentMessages(store: MemoryStore): SentMessages {
  /** The latest accepted first, then the highest id. */
  const sentBy = (by: AccountId): readonly MessageRow[] =>
    [...store.messages.values()]
      .filter(({ send }) => send.account === by && !send.confirmation)
      .sort((a, b) => b.send.submitted - a.send.submitted || b.id - a.id)

  return {
    list: atomic((by, { after, since, until = Infinity, limit }) => {
      const sent = sentBy(by)
      const at = after === undefined ? -1 : sent.findIndex(({ id }) => id === after)
      if (after !== undefined && at < 0) return []
      return sent
        .slice(at + 1)
        .filter(({ send }) => send.submitted >= since && send.submitted < until)
        .slice(0, limit)
        .map(sentOf)
    }),
    find: atomic((by, id) => {
      const row = store.messages.get(id)
      return row?.send.account === by && !row.send.confirmation ? sentOf(row) : undefined
    }),
    count: atomic((by, since, messagesMax) => {
      const counts = new Map<SentCount['code'], SentCount>()
      const latest = sentBy(by).filter(({ send }) => send.submitted >= since)
      for (const { decision, cost, refund } of latest.slice(0, messagesMax)) {
        const { messages, cost: before } = counts.get(decision?.code) ?? { messages: 0, cost: credits(0) }
        const isPaid = decision === undefined || (isTaken(outcomeOf(decision)) && refund === undefined)
        const paid = isPaid ? plus(before, cost) : before
        counts.set(decision?.code, { code: decision?.code, messages: messages + 1, cost: paid })
      }
      return [...counts.values()].sort((a, b) => (a.code ?? Infinity) - (b.code ?? Infinity))
    }),
  }
}

const sentOf = ({ id, number, cost, reference, from, send }: MessageRow): SentMessage => ({
  id,
  number,
  text: send.body.text,
  parts: send.body.parts,
  accepted: send.submitted,
  scheduled: send.scheduled ? send.due : undefined,
  cost,
  reference,
  from,
})
