import {
  instant,
  type InboundMessage,
  type CarrierHandlers,
  type CarrierId,
  type DeliveryReceipt,
  type DeliveryReceiptCode,
} from '@gateway/core'
import { fateOf } from './fates.ts'
import type { Owed, SubmissionRecord } from './record.ts'
import { timeline } from './timeline.ts'

/** Hands over the receipts and replies that are owed, each when its time has come, until it is acknowledged. */
export interface ReceiptSender {
  /** To be handed over so much later. */
  owe(ones: readonly Owed[], delayMilliseconds: number): void
  /** Hands receipts over at once. Resolves when that was acknowledged or refused; what was refused is owed. */
  handOver(receipts: readonly Owed[]): Promise<void>
  /** Stops, and lets what is being handed over be acknowledged. What is owed stays in the record. */
  stop(): Promise<void>
}

/** What is handed over together at the most, and how many such batches may wait for their acknowledgement. */
const batchMax = 1000
const batchesMax = 8
/** What was refused is offered again after so long. */
const againMilliseconds = 1000

export function receiptSender(
  carrier: CarrierId,
  delayMilliseconds: number,
  record: Pick<SubmissionRecord, 'acknowledged' | 'answers'>,
  handlers: CarrierHandlers,
  report: (problem: unknown) => void,
): ReceiptSender {
  const waiting = timeline<Owed>(batchMax, send)
  const handing = new Set<Promise<void>>()
  let stopped = false

  function send(): void {
    while (!stopped && handing.size < batchesMax) {
      const due = waiting.takeDue()
      if (due.length === 0) return
      const replies = due.filter(isReply)
      const receipts = replies.length === 0 ? due : due.filter((owed) => !isReply(owed))
      if (receipts.length > 0) void handOver(receipts)
      if (replies.length > 0) void hand(offerReplies(replies))
    }
  }

  const handOver = (receipts: readonly Owed[]): Promise<void> => hand(offerReceipts(receipts))

  function hand(offer: Promise<void>): Promise<void> {
    const handed = offer.finally(() => {
      handing.delete(handed)
      send()
    })
    handing.add(handed)
    return handed
  }

  async function offerReceipts(receipts: readonly Owed[]): Promise<void> {
    if (!(await isTaken(receipts, () => handlers.receipts(receipts.map(receiptOf))))) return
    acknowledge(receipts.map((owed) => ({ reference: owed.reference, code: codeOf(owed) })))
    const further = receipts.filter(({ to, nth, reply }) => reply !== undefined || nth + 1 < receiptsTo(to))
    waiting.add(
      further.map((owed) => ({ ...owed, nth: owed.nth + 1 })),
      delayMilliseconds,
    )
  }

  async function offerReplies(replies: readonly Owed[]): Promise<void> {
    const now = instant(Date.now())
    for (const { to, reply } of replies) record.answers(to, { to: reply?.to, at: now })
    if (!(await isTaken(replies, () => handlers.arrivals(replies.map(inboundMessageOf))))) return
    acknowledge(replies.map(({ reference }) => ({ reference, code: undefined })))
  }

  /** What was refused stays owed. */
  async function isTaken(ones: readonly Owed[], offer: () => Promise<void>): Promise<boolean> {
    try {
      await offer()
      return true
    } catch {
      waiting.add(ones, againMilliseconds) // who refused it knows why
      return false
    }
  }

  function acknowledge(ones: Parameters<SubmissionRecord['acknowledged']>[0]): void {
    try {
      record.acknowledged(ones)
    } catch (problem) {
      report(problem)
    }
  }

  const receiptOf = (owed: Owed): DeliveryReceipt => ({
    carrier,
    reference: owed.reference,
    code: codeOf(owed),
    number: owed.to,
    submitted: instant(owed.at),
  })

  /** The same whenever and by whomever it is offered. */
  const inboundMessageOf = ({ reference, to, reply }: Owed): InboundMessage => ({
    carrier,
    from: to,
    to: reply?.to,
    text: fateOf(to).reply ?? '',
    sent: reply?.at,
    reference: `${reference}-reply`,
    offer: undefined,
    part: undefined,
  })

  return {
    owe: (ones, delay) => waiting.add(ones, delay),
    handOver,
    async stop() {
      stopped = true
      waiting.stop()
      await Promise.all(handing)
    },
  }
}

const receiptsTo = (number: string): number => fateOf(number).receipts.length

const isReply = ({ to, nth, reply }: Owed): boolean => reply !== undefined && nth >= receiptsTo(to)

function codeOf({ to, nth }: Owed): DeliveryReceiptCode {
  const code = fateOf(to).receipts[nth]
  if (code === undefined) throw new Error(`a number that ends in ${to.slice(-2)} gets no receipt ${nth + 1}`)
  return code
}
