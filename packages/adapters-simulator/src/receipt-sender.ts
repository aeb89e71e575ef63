import { instant, type CarrierHandlers, type CarrierId, type Receipt, type ReceiptCode } from '@gateway/core'
import { fateOf } from './fates.ts'
import type { Owed, SubmissionRecord } from './record.ts'
import { timeline } from './timeline.ts'

/** Hands over the receipts that are owed, each when its time has come, until it is acknowledged. */
export interface ReceiptSender {
  /** To be handed over so much later. */
  owe(receipts: readonly Owed[], delayMilliseconds: number): void
  /** Hands over at once. Resolves when that was acknowledged or refused; what was refused is owed. */
  handOver(receipts: readonly Owed[]): Promise<void>
  /** Stops, and lets what is being handed over be acknowledged. What is owed stays in the record. */
  stop(): Promise<void>
}

/** Receipts that are handed over together at the most, and how many such batches may wait for their acknowledgement. */
const batchMax = 1000
const batchesMax = 8
/** What was refused is offered again after so long. */
const againMilliseconds = 1000

export function receiptSender(
  carrier: CarrierId,
  delayMilliseconds: number,
  record: Pick<SubmissionRecord, 'acknowledged'>,
  handlers: CarrierHandlers,
  report: (problem: unknown) => void,
): ReceiptSender {
  const waiting = timeline<Owed>(batchMax, send)
  const handing = new Set<Promise<void>>()
  let stopped = false

  function send(): void {
    while (!stopped && handing.size < batchesMax) {
      const receipts = waiting.takeDue()
      if (receipts.length === 0) return
      void handOver(receipts)
    }
  }

  function handOver(receipts: readonly Owed[]): Promise<void> {
    const handed = offer(receipts).finally(() => {
      handing.delete(handed)
      send()
    })
    handing.add(handed)
    return handed
  }

  async function offer(receipts: readonly Owed[]): Promise<void> {
    try {
      await handlers.receipts(receipts.map(receiptOf))
    } catch {
      waiting.add(receipts, againMilliseconds) // who refused it knows why
      return
    }
    try {
      record.acknowledged(receipts.map((owed) => ({ reference: owed.reference, code: codeOf(owed) })))
    } catch (problem) {
      report(problem)
    }
    const further = receipts.filter(({ to, nth }) => nth + 1 < fateOf(to).receipts.length)
    waiting.add(
      further.map((owed) => ({ ...owed, nth: owed.nth + 1 })),
      delayMilliseconds,
    )
  }

  const receiptOf = (owed: Owed): Receipt => ({
    carrier,
    reference: owed.reference,
    code: codeOf(owed),
    number: owed.to,
    submitted: instant(owed.at),
  })

  return {
    owe: (receipts, delay) => waiting.add(receipts, delay),
    handOver,
    async stop() {
      stopped = true
      waiting.stop()
      await Promise.all(handing)
    },
  }
}

function codeOf({ to, nth }: Owed): ReceiptCode {
  const code = fateOf(to).receipts[nth]
  if (code === undefined) throw new Error(`a number that ends in ${to.slice(-2)} gets no receipt ${nth + 1}`)
  return code
}
