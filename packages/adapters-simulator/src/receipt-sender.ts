import type { CarrierHandlers, CarrierId, DeliveryReceipt, DeliveryReceiptCode } from '@gateway/core/dispatch'
import type { InboundMessage } from '@gateway/core/inbox'
import { instant, type Clock } from '@gateway/core/time'
import { outcomeOf } from './outcomes.ts'
import type { Owed, SubmissionRecord } from './record.ts'

/** Sends due receipts and replies to the handlers until they are acknowledged. */
export interface ReceiptSender {
  /** Schedules receipts or replies. */
  schedule(owed: readonly Owed[], delayMilliseconds: number): void
  /** Sends receipts at once. Resolves when they were acknowledged or refused; refused ones are sent again. */
  deliver(receipts: readonly Owed[]): Promise<void>
  /** Stops, after waiting for acknowledgements under way. Unsent receipts stay in the record. */
  stop(): Promise<void>
}

/** Maximum size of a batch, and of unacknowledged batches. */
const batchMax = 1000
const batchesMax = 8
/** Delay before a refused batch is sent again. */
const retryMilliseconds = 1000

export function receiptSender(
  carrier: CarrierId,
  delayMilliseconds: number,
  { record, clock }: { readonly record: Pick<SubmissionRecord, 'acknowledged' | 'addReply'>; readonly clock: Clock },
  handlers: CarrierHandlers,
  report: (problem: unknown) => void,
): ReceiptSender {
  const waiting = delayQueue<Owed>(batchMax, send)
  const sending = new Set<Promise<void>>()
  let stopped = false

  function send(): void {
    while (!stopped && sending.size < batchesMax) {
      const due = waiting.takeDue()
      if (due.length === 0) return
      const replies = due.filter(isReply)
      const receipts = replies.length === 0 ? due : due.filter((owed) => !isReply(owed))
      if (receipts.length > 0) void deliver(receipts)
      if (replies.length > 0) void track(offerReplies(replies))
    }
  }

  const deliver = (receipts: readonly Owed[]): Promise<void> => track(offerReceipts(receipts))

  function track(offer: Promise<void>): Promise<void> {
    const sent = offer.finally(() => {
      sending.delete(sent)
      send()
    })
    sending.add(sent)
    return sent
  }

  async function offerReceipts(receipts: readonly Owed[]): Promise<void> {
    if (!(await isStored(receipts, () => handlers.receipts(receipts.map(receiptOf))))) return
    acknowledge(receipts.map((owed) => ({ reference: owed.reference, code: codeOf(owed) })))
    const further = receipts.filter(({ to, nth, reply }) => reply !== undefined || nth + 1 < receiptsTo(to))
    waiting.add(
      further.map((owed) => ({ ...owed, nth: owed.nth + 1 })),
      delayMilliseconds,
    )
  }

  async function offerReplies(replies: readonly Owed[]): Promise<void> {
    const now = clock.now()
    for (const { to, reply } of replies) record.addReply(to, { to: reply?.to, at: now })
    if (!(await isStored(replies, () => handlers.inboundMessages(replies.map(inboundMessageOf))))) return
    acknowledge(replies.map(({ reference }) => ({ reference, code: undefined })))
  }

  /** Offers items to a handler. Returns false, and schedules them again, if it rejects. */
  async function isStored(items: readonly Owed[], offer: () => Promise<unknown>): Promise<boolean> {
    try {
      await offer()
      return true
    } catch {
      waiting.add(items, retryMilliseconds) // the handler has logged why
      return false
    }
  }

  function acknowledge(items: Parameters<SubmissionRecord['acknowledged']>[0]): void {
    try {
      record.acknowledged(items)
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

  /** Builds a reply. It is the same whenever and by whichever process it is offered. */
  const inboundMessageOf = ({ reference, to, reply }: Owed): InboundMessage => ({
    carrier,
    from: to,
    to: reply?.to,
    text: outcomeOf(to).reply ?? '',
    sent: reply?.at,
    reference: `${reference}-reply`,
    offer: undefined,
    part: undefined,
  })

  return {
    schedule: (owed, delay) => waiting.add(owed, delay),
    deliver,
    async stop() {
      stopped = true
      waiting.stop()
      await Promise.all(sending)
    },
  }
}

const receiptsTo = (number: string): number => outcomeOf(number).receipts.length

const isReply = ({ to, nth, reply }: Owed): boolean => reply !== undefined && nth >= receiptsTo(to)

function codeOf({ to, nth }: Owed): DeliveryReceiptCode {
  const code = outcomeOf(to).receipts[nth]
  if (code === undefined) throw new Error(`numbers ending in ${to.slice(-2)} have no receipt ${nth + 1}`)
  return code
}

/** Items that become due after a delay, with one timer for all of them. */
export interface DelayQueue<T> {
  add(things: readonly T[], delayMilliseconds: number): void
  /** Due items in order of their time, at most one batch. */
  takeDue(): readonly T[]
  stop(): void
}

interface Batch<T> {
  readonly due: number
  readonly things: readonly T[]
}

/**
 * Creates a queue that calls `onDue` once, in its own turn of the event loop, when an item becomes due. Items that are
 * not taken then can be taken later without another call. Each distinct delay has its own ordered queue, so use few.
 */
export function delayQueue<T>(batchMax: number, onDue: () => void): DelayQueue<T> {
  const queues = new Map<number, Batch<T>[]>()
  let timer: NodeJS.Timeout | undefined
  let immediate: NodeJS.Immediate | undefined
  let plannedFor = Infinity
  let stopped = false

  /** Returns the queue whose first batch is due before all others. */
  function first(): { queue: Batch<T>[]; due: number } | undefined {
    let found: { queue: Batch<T>[]; due: number } | undefined
    for (const queue of queues.values()) {
      const due = queue[0]?.due
      if (due !== undefined && (found === undefined || due < found.due)) found = { queue, due }
    }
    return found
  }

  function plan(): void {
    const next = first()?.due
    if (stopped || next === undefined || next >= plannedFor) return
    cancel()
    plannedFor = next
    const wait = Math.ceil(next - performance.now())
    if (wait > 0) timer = setTimeout(notify, wait).unref()
    else immediate = setImmediate(notify)
  }

  function notify(): void {
    plannedFor = Infinity
    onDue()
  }

  function cancel(): void {
    clearTimeout(timer)
    clearImmediate(immediate)
  }

  return {
    add(things, delayMilliseconds) {
      const due = performance.now() + delayMilliseconds
      const queue = queues.get(delayMilliseconds) ?? []
      queues.set(delayMilliseconds, queue)
      for (let at = 0; at < things.length; at += batchMax) queue.push({ due, things: things.slice(at, at + batchMax) })
      plan()
    },
    takeDue() {
      const now = performance.now()
      const dueItems: T[] = []
      for (let next = first(); next !== undefined && next.due <= now; next = first()) {
        const things = next.queue[0]?.things ?? []
        if (dueItems.length > 0 && dueItems.length + things.length > batchMax) break
        next.queue.shift()
        dueItems.push(...things)
      }
      plan()
      return dueItems
    },
    stop() {
      stopped = true
      cancel()
    },
  }
}
