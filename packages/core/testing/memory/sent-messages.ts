import type { AccountId } from '@gateway/core/accounts'
import { sameSendMinutes, type SentMessage, type SentMessages } from '@gateway/core/messages'
import { secondsAfter } from '@gateway/core/time'
import { atomic } from './atomic.ts'
import { memoryMessageTraces } from './message-traces.ts'
import type { MessageRow } from './rows.ts'
import { messageOf } from './smpp-part-status.ts'
import type { MemoryStore } from './store.ts'

export function memorySentMessages(store: MemoryStore): SentMessages {
  /** Returns the messages of an account, latest acceptance first, and highest id first among equal times. */
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
      const row = store.messages.get(messageOf(store, id))
      return row?.send.account === by && !row.send.confirmation ? sentOf(row) : undefined
    }),
    lastSend: atomic((by, since, numbersMin) => {
      const rows = sentBy(by).filter(({ send }) => send.submitted >= since)
      const large = [...new Set(rows.map(({ send }) => send))].filter(
        (send) => rows.filter((row) => row.send === send).length >= numbersMin,
      )
      const [latest] = large
      if (latest === undefined) return undefined
      const from = secondsAfter(latest.submitted, -60 * sameSendMinutes)
      const ofLastSend = rows.filter(({ send }) => large.includes(send) && send.submitted > from)
      const ids = new Set(ofLastSend.map(({ id }) => id))
      const replies = [...(store.optOutReplies.get(by)?.values() ?? [])]
      const optedOut = replies.filter(({ answers }) => answers !== undefined && ids.has(answers)).length
      return { accepted: ofLastSend.at(-1)?.send.submitted ?? latest.submitted, messages: ofLastSend.length, optedOut }
    }),
    ...memoryMessageTraces(store),
  }
}

const sentOf = ({ id, number, cost, reference, from, send }: MessageRow): SentMessage => ({
  id,
  number,
  text: send.body.text,
  parts: send.body.parts,
  accepted: send.submitted,
  scheduled: send.scheduled ? send.due : undefined,
  options: send.options,
  cost,
  reference,
  from,
})
