import type { CarrierId } from '@gateway/core/dispatch'
import type { CallbackStore } from './store-callback.ts'

type AcceptReceipts = CallbackStore['acceptReceipts']
type Receipts = Parameters<AcceptReceipts>[1]

/** Maximum number of receipts in one commit. */
const receiptsMax = 500
/** Milliseconds for which receipts of a carrier are stored one callback at a time after a commit failed. */
const apartMilliseconds = 10_000

interface Waiting {
  readonly receipts: Receipts
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/**
 * Stores the receipts of concurrent callbacks of one carrier together, in the order of their arrival, because a commit
 * for each receipt costs PostgreSQL several times as much: while one commit is in progress, further receipts wait for
 * the next. Each promise resolves after the commit. If a commit fails, all its callbacks fail, and for ten seconds the
 * receipts of the carrier are stored one callback at a time, so that a receipt that cannot be stored does not hold up
 * the others.
 */
export function receiptsTogether(accept: AcceptReceipts, now: () => number) {
  const queues = new Map<CarrierId, ReceiptQueue>()
  return (carrier: CarrierId, receipts: Receipts): Promise<void> => {
    const queue = queues.get(carrier) ?? new ReceiptQueue((some) => accept(carrier, some), now)
    queues.set(carrier, queue)
    return queue.add(receipts)
  }
}

class ReceiptQueue {
  readonly #accept: (receipts: Receipts) => Promise<unknown>
  readonly #now: () => number
  #waiting: Waiting[] = []
  #isStoring = false
  #apartUntil = -Infinity

  constructor(accept: (receipts: Receipts) => Promise<unknown>, now: () => number) {
    this.#accept = accept
    this.#now = now
  }

  async add(receipts: Receipts): Promise<void> {
    if (this.#now() < this.#apartUntil) {
      await this.#accept(receipts)
      return
    }
    const stored = new Promise<void>((resolve, reject) => this.#waiting.push({ receipts, resolve, reject }))
    if (!this.#isStoring) void this.#storeAll()
    await stored
  }

  async #storeAll(): Promise<void> {
    this.#isStoring = true
    while (this.#waiting.length > 0) await this.#store(this.#next())
    this.#isStoring = false
  }

  async #store(callbacks: readonly Waiting[]): Promise<void> {
    try {
      await this.#accept(callbacks.flatMap(({ receipts }) => receipts))
      for (const { resolve } of callbacks) resolve()
    } catch (error) {
      if (callbacks.length > 1) this.#apartUntil = this.#now() + apartMilliseconds
      for (const { reject } of callbacks) reject(error)
    }
  }

  /** Takes callbacks with at most `receiptsMax` receipts, but at least one callback. */
  #next(): readonly Waiting[] {
    let [count, receipts] = [0, 0]
    for (const each of this.#waiting) {
      receipts += each.receipts.length
      if (count > 0 && receipts > receiptsMax) break
      count++
    }
    return this.#waiting.splice(0, count)
  }
}
