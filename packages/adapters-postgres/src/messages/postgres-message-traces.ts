import {
  bodyOf,
  credits,
  instant,
  isTaken,
  traceLinesMax,
  type AccountId,
  type CarrierId,
  type Credits,
  type DispatcherId,
  type MessageId,
  type MessageLocation,
  type MessageTrace,
  type Msisdn,
  type DeliveryReceiptCode,
  type SenderAddress,
  type MessageTraces,
  type TracedRefund,
} from '@gateway/core'
import { laneOfNumber } from '../claimed-batches/lane-number.ts'
import type { Context } from '../context.ts'
import { knownCode } from './known-code.ts'
import { findMessages } from './find-messages.ts'
import { explainMessage, type MessageTraceRow } from '../sql/explain-message.ts'

export const postgresMessageTraces = ({ pools: { ordinary } }: Context): MessageTraces => ({
  of: async (id) => {
    const [row] = await ordinary.run(explainMessage, [id, traceLinesMax])
    return row && traceOf(id, row)
  },
  find: (search, decidedSince, limit) => findMessages(ordinary, search, decidedSince, limit),
})

function traceOf(id: MessageId, row: MessageTraceRow): MessageTrace {
  const cost = credits(row.price)
  return {
    id,
    account: row.account as AccountId,
    number: String(row.number) as Msisdn,
    from: (row.from ?? undefined) as SenderAddress | undefined,
    confirmation: row.confirms,
    accepted: instant(row.accepted),
    scheduled: row.scheduled === null ? undefined : instant(row.scheduled),
    text: textOf(row),
    cost,
    send: {
      first: row.first as MessageId,
      messages: row.n,
      debit: credits(row.price * row.n),
      refunds: (row.refunds ?? []).map((refund) => refundOf(refund, cost)).sort(byCode),
    },
    place: placeOf(row),
    refusedForNow: row.refusals,
    incidents: (row.incidents ?? []).map(({ at, what }) => ({ at: instant(at), what })),
    receipts: (row.receipts ?? []).map(({ at, carrier, reference, code, own }) => ({
      at: instant(at),
      carrier: carrier as CarrierId,
      reference,
      code: code as DeliveryReceiptCode,
      fits: own ? 'own' : 'same-number',
    })),
  }
}

/** A text that would be judged otherwise today was sent in UCS-2. */
function textOf({ body: text, parts }: MessageTraceRow): MessageTrace['text'] {
  const body = bodyOf(text)
  return { characters: Array.from(text).length, encoding: typeof body === 'string' ? 'ucs-2' : body.encoding, parts }
}

function placeOf({ message, later, due, claimed }: MessageTraceRow): MessageLocation {
  if (message !== null) return decidedPlace(message)
  if (later?.attempt === 0) return { place: 'scheduled', due: instant(later.until) }
  if (later !== null) return { place: 'postponed', until: instant(later.until), attempt: later.attempt }
  if (due !== null) {
    return { place: 'queue', lane: laneOfNumber(due.lane), due: instant(due.at), attempt: due.attempt }
  }
  if (claimed === null) return { place: 'nowhere' }
  const { dispatcher, carrier, marked, attempt, lease, overdue } = claimed
  const leaseUntil = instant(lease)
  return {
    place: 'claimed',
    dispatcher: dispatcher as DispatcherId,
    carrier: carrier as CarrierId,
    marked,
    attempt,
    leaseUntil,
    overdue,
  }
}

function decidedPlace({
  code,
  at,
  stored,
  carrier,
  reference,
}: NonNullable<MessageTraceRow['message']>): MessageLocation {
  const known = knownCode(code)
  return {
    place: 'decided',
    code: known,
    at: instant(at),
    stored: instant(stored),
    carrier: (carrier as CarrierId | null) ?? undefined,
    reference: reference ?? undefined,
    refunded: !isTaken({ code: known, hasReference: reference !== null }),
  }
}

function refundOf(
  { code, amount, first, last }: NonNullable<MessageTraceRow['refunds']>[number],
  cost: Credits,
): TracedRefund {
  const messages = cost === 0 ? undefined : amount / cost
  return { code: knownCode(code), messages, amount: credits(amount), first: instant(first), last: instant(last) }
}

const byCode = (a: TracedRefund, b: TracedRefund): number => (a.code ?? Infinity) - (b.code ?? Infinity)
