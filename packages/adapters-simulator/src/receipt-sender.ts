import type { CarrierHandlers, CarrierId, DeliveryReceipt, DeliveryReceiptCode } from '@gateway/core/dispatch'
import type { InboundMessage } from '@gateway/core/inbox'
import { instant, type Clock } from '@gateway/core/time'
import { outcomeOf } from './outcomes.ts'
import type { Owed, SubmissionRecord } from './record.ts'

/** Maximum number of items in a batch, and maximum number of unacknowledged batches. */
const batchMax = 1000
const batchesMax = 8
/** Delay before a refused batch is sent again. */
const retryMilliseconds = 1000

/** Sends due receipts and replies to the handlers until they are acknowledged. */
export class ReceiptSender {
  readonly #carrier: CarrierId
  readonly #delayMilliseconds: number
  readonly #record: Pick<SubmissionRecord, 'acknowledged' | 'addReply'>
  readonly #clock: Clock
  readonly #handlers: CarrierHandlers
  readonly #report: (problem: unknown) => void
  readonly #waiting = new DelayQueue<Owed>(batchMax, () => this.#send())
  readonly #sending = new Set<Promise<void>>()
  #isStopped = false

  constructor(
    carrier: CarrierId,
    delayMilliseconds: number,
    { record, clock }: { readonly record: Pick<SubmissionRecord, 'acknowledged' | 'addReply'>; readonly clock: Clock },
    handlers: CarrierHandlers,
    report: (problem: unknown) => void,
  ) {
    this.#carrier = carrier
    this.#delayMilliseconds = delayMilliseconds
    this.#record = record
    this.#clock = clock
    this.#handlers = handlers
    this.#report = report
  }

  /** Schedules receipts or replies. */
  schedule(owed: readonly Owed[], delayMilliseconds: number): void {
    this.#waiting.add(owed, delayMilliseconds)
  }

  /** Sends receipts at once. Resolves when they were acknowledged or refused; refused ones are sent again. */
  deliver(receipts: readonly Owed[]): Promise<void> {
    return this.#track(this.#offerReceipts(receipts))
  }

  /** Stops after pending acknowledgements have arrived. Unsent receipts stay in the record. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#waiting.stop()
    await Promise.all(this.#sending)
  }

  #send(): void {
    while (!this.#isStopped && this.#sending.size < batchesMax) {
      const due = this.#waiting.takeDue()
      if (due.length === 0) return
      const replies = due.filter(isReply)
      const receipts = replies.length === 0 ? due : due.filter((owed) => !isReply(owed))
      if (receipts.length > 0) void this.deliver(receipts)
      if (replies.length > 0) void this.#track(this.#offerReplies(replies))
    }
  }

  #track(offer: Promise<void>): Promise<void> {
    const sent = offer.finally(() => {
      this.#sending.delete(sent)
      this.#send()
    })
    this.#sending.add(sent)
    return sent
  }

  async #offerReceipts(receipts: readonly Owed[]): Promise<void> {
    const offer = () => this.#handlers.receipts(receipts.map((owed) => this.#receiptOf(owed)))
    if (!(await this.#isStored(receipts, offer))) return
    this.#acknowledge(receipts.map((owed) => ({ reference: owed.reference, code: codeOf(owed) })))
    const further = receipts.filter(({ to, nth, reply }) => reply !== undefined || nth + 1 < receiptsTo(to))
    this.#waiting.add(
      further.map((owed) => ({ ...owed, nth: owed.nth + 1 })),
      this.#delayMilliseconds,
    )
  }

  async #offerReplies(replies: readonly Owed[]): Promise<void> {
    const now = this.#clock.now()
    for (const { to, reply } of replies) this.#record.addReply(to, { to: reply?.to, at: now })
    const offer = () => this.#handlers.inboundMessages(replies.map((owed) => this.#inboundMessageOf(owed)))
    if (!(await this.#isStored(replies, offer))) return
    this.#acknowledge(replies.map(({ reference }) => ({ reference, code: undefined })))
  }

  /** Offers items to a handler. If the handler rejects, schedules the items again and returns false. */
  async #isStored(items: readonly Owed[], offer: () => Promise<unknown>): Promise<boolean> {
    try {
      await offer()
      return true
    } catch {
      this.#waiting.add(items, retryMilliseconds) // The handler has logged the error already.
      return false
    }
  }

  #acknowledge(items: Parameters<SubmissionRecord['acknowledged']>[0]): void {
    try {
      this.#record.acknowledged(items)
    } catch (problem) {
      this.#report(problem)
    }
  }

  #receiptOf(owed: Owed): DeliveryReceipt {
    const { reference, to, at } = owed
    return { carrier: this.#carrier, reference, code: codeOf(owed), number: to, submitted: instant(at) }
  }

  /** Builds a reply. The reply is the same each time that it is offered, and in every process. */
  #inboundMessageOf({ reference, to, reply }: Owed): InboundMessage {
    return {
      carrier: this.#carrier,
      from: to,
      to: reply?.to,
      text: outcomeOf(to).reply ?? '',
      sent: reply?.at,
      reference: `${reference}-reply`,
      offer: undefined,
      part: undefined,
    }
  }
}

const receiptsTo = (number: string): number => outcomeOf(number).receipts.length

const isReply = ({ to, nth, reply }: Owed): boolean => reply !== undefined && nth >= receiptsTo(to)

function codeOf({ to, nth }: Owed): DeliveryReceiptCode {
  const code = outcomeOf(to).receipts[nth]
  if (code === undefined) throw new Error(`numbers ending in ${to.slice(-2)} have no receipt ${nth + 1}`)
  return code
}

interface Batch<T> {
  readonly due: number
  readonly things: readonly T[]
}

/**
 * Items that become due after a delay, with one timer for all of them. When an item becomes due, calls `onDue` once, in
 * its own turn of the event loop. Items that the caller does not take then can be taken later without another call of
 * `onDue`. Each distinct delay has its own ordered queue, so use few distinct delays.
 */
export class DelayQueue<T> {
  readonly #batchMax: number
  readonly #onDue: () => void
  readonly #queues = new Map<number, Batch<T>[]>()
  #timer: NodeJS.Timeout | undefined
  #immediate: NodeJS.Immediate | undefined
  #plannedFor = Infinity
  #isStopped = false

  constructor(batchMax: number, onDue: () => void) {
    this.#batchMax = batchMax
    this.#onDue = onDue
  }

  add(things: readonly T[], delayMilliseconds: number): void {
    const due = performance.now() + delayMilliseconds
    const queue = this.#queues.get(delayMilliseconds) ?? []
    this.#queues.set(delayMilliseconds, queue)
    const { length } = things
    for (let at = 0; at < length; at += this.#batchMax)
      queue.push({ due, things: things.slice(at, at + this.#batchMax) })
    this.#plan()
  }

  /** Takes the due items in order of their time, at most one batch. */
  takeDue(): readonly T[] {
    const now = performance.now()
    const dueItems: T[] = []
    for (let next = this.#first(); next !== undefined && next.due <= now; next = this.#first()) {
      const things = next.queue[0]?.things ?? []
      if (dueItems.length > 0 && dueItems.length + things.length > this.#batchMax) break
      next.queue.shift()
      dueItems.push(...things)
    }
    this.#plan()
    return dueItems
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  /** Returns the queue whose first batch is due before all others. */
  #first(): { queue: Batch<T>[]; due: number } | undefined {
    let found: { queue: Batch<T>[]; due: number } | undefined
    for (const queue of this.#queues.values()) {
      const due = queue[0]?.due
      if (due !== undefined && (found === undefined || due < found.due)) found = { queue, due }
    }
    return found
  }

  #plan(): void {
    const next = this.#first()?.due
    if (this.#isStopped || next === undefined || next >= this.#plannedFor) return
    this.#cancel()
    this.#plannedFor = next
    const wait = Math.ceil(next - performance.now())
    if (wait > 0) this.#timer = setTimeout(this.#notify, wait).unref()
    else this.#immediate = setImmediate(this.#notify)
  }

  #notify = (): void => {
    this.#plannedFor = Infinity
    this.#onDue()
  }

  #cancel(): void {
    clearTimeout(this.#timer)
    clearImmediate(this.#immediate)
  }
}
