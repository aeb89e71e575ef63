import { deduplicationKeyOf, type InboundMessage } from '../inbox/inbound-message.ts'
import { receive } from '../inbox/receive.ts'
import type { Body } from '../messages/body.ts'
import type { MessageId } from '../messages/messages.ts'
import type { Ports } from '../ports.ts'
import { daysBefore } from '../time/instant.ts'
import type { CarrierHandlers } from './carrier.ts'
import type { CarrierId } from './carrier-id.ts'
import type { DeliveryReceipt } from './delivery-receipt.ts'
import type { InFlight } from './in-flight.ts'
import { receiptMatching } from './match-delivery-receipt.ts'
import type { OutcomeWriter } from './outcome-writer.ts'

/** Stores items delivered by a carrier, some of which have to wait. */
export interface HoldBackQueue<Item> {
  /**
   * Resolves to the items that the store returned, once all are stored; rejects if that failed. The carrier then offers
   * them again. Should a later item of the same key arrive first, the failed items are still stored before it.
   */
  add(items: readonly Item[]): Promise<readonly Item[]>
  /** Continues with waiting items. To be called when outcomes of messages were recorded. */
  run(): void
}

export interface HoldBackSettings<Item> {
  /**
   * Inspects the items of a call when they arrive. The returned function tells before each batch whether they still
   * have to wait.
   */
  readonly holdsBack: (items: readonly Item[]) => () => boolean
  /** Items of one key are stored in order of arrival. */
  readonly keyOf: (item: Item) => string
  /**
   * True if storing the item twice has the same effect as storing it once. Only such items are stored again after a
   * failure.
   */
  readonly isRepeatable: (item: Item) => boolean
  /** Maximum number of items of a batch, unless one call has more. */
  readonly batchMax: number
}

/**
 * Stores items in batches. An item that waits lets items of other keys pass, but never an item of its own key (P-7). It
 * waits so that a receipt or reply that arrives before its message is recorded finds the message at the first attempt.
 */
export function createHoldBackQueue<Item>(
  store: (items: readonly Item[]) => Promise<readonly Item[]>,
  { holdsBack, keyOf, isRepeatable, batchMax }: HoldBackSettings<Item>,
): HoldBackQueue<Item> {
  interface Entry {
    readonly items: readonly Item[]
    readonly isHeld: () => boolean
    resolve(returned: readonly Item[]): void
    reject(problem: unknown): void
  }
  let waiting: Entry[] = []
  let busy = false
  const failed = createFailedItems(keyOf)

  function takeReady(): readonly Entry[] {
    const ready: Entry[] = []
    const remaining: Entry[] = []
    const heldKeys = new Set<string>()
    let count = 0
    for (const entry of waiting) {
      const isBehind = heldKeys.size > 0 && entry.items.some((item) => heldKeys.has(keyOf(item)))
      if (count < batchMax && !isBehind && !entry.isHeld()) {
        ready.push(entry)
        count += entry.items.length
        continue
      }
      remaining.push(entry)
      for (const item of entry.items) heldKeys.add(keyOf(item))
    }
    waiting = remaining
    return ready
  }

  async function storeBatch(ready: readonly Entry[]): Promise<void> {
    const items = ready.flatMap((entry) => entry.items)
    const earlier = failed.take(items)
    try {
      const returned = await store([...earlier, ...items])
      for (const entry of ready)
        entry.resolve(returned.length === 0 ? returned : entry.items.filter((item) => returned.includes(item)))
    } catch (problem) {
      failed.keep([...earlier, ...items.filter(isRepeatable)])
      for (const entry of ready) entry.reject(problem)
    }
  }

  async function storeAll(): Promise<void> {
    busy = true
    for (let ready = takeReady(); ready.length > 0; ready = takeReady()) await storeBatch(ready)
    busy = false
  }

  const run = (): void => {
    if (!busy) void storeAll()
  }

  return {
    add: (items) =>
      new Promise((resolve, reject) => {
        const isHeld = holdsBack(items)
        waiting.push({ items, isHeld, resolve, reject })
        if (!isHeld()) run()
      }),
    run,
  }
}

/** Maximum number of failed items to remember; the oldest are dropped first. */
const failedMax = 10_000

/**
 * Items that could not be stored. The carrier offers them again later, perhaps after a later item of the same key,
 * which therefore takes the remembered items along.
 */
function createFailedItems<Item>(keyOf: (item: Item) => string) {
  let items: readonly Item[] = []
  return {
    /** Removes and returns the failed items that belong before these items. */
    take(next: readonly Item[]): readonly Item[] {
      if (items.length === 0) return []
      const keys = new Set(next.map(keyOf))
      const before = items.filter((item) => keys.has(keyOf(item)))
      if (before.length > 0) items = items.filter((item) => !keys.has(keyOf(item)))
      return before
    },
    keep(more: readonly Item[]): void {
      items = [...items, ...more].slice(-failedMax)
    },
  }
}

/**
 * Returns, for inbound messages, a function that is true while one of them may answer a message whose submission is not
 * recorded yet. Only messages submitted before the inbound messages arrived count, because a number that gets messages
 * all the time always has some that are not recorded.
 */
export const holdUntilRecorded =
  ({ unanswered }: Pick<InFlight, 'unanswered'>, outcomes: Pick<OutcomeWriter, 'has' | 'messagesTo'>) =>
  (inbound: readonly InboundMessage[]): (() => boolean) => {
    const numbers = new Set<string>(inbound.map(({ from }) => from.replace(/^\+/, '')))
    const submitted = [...outcomes.messagesTo(numbers)]
    for (const [id, { message }] of unanswered) if (numbers.has(message.to)) submitted.push(id)
    const isOpen = (id: MessageId): boolean => unanswered.has(id) || outcomes.has(id)
    return () => {
      for (let id = submitted.at(-1); id !== undefined; id = submitted.at(-1)) {
        if (isOpen(id)) return true
        submitted.pop() // recorded, or not accepted by the carrier
      }
      return false
    }
  }

/**
 * Maximum number of delivery receipts and inbound messages per commit; a larger backlog is stored in several commits.
 */
const receiptsMax = 2000
const inboundMax = 500

/** Handlers that store the receipts and inbound messages of a carrier. */
export interface Incoming {
  readonly handlers: CarrierHandlers
  /** Continues with waiting items. To be called when outcomes of messages were recorded. */
  run(): void
}

/**
 * Creates handlers that store receipts and inbound messages, each after the outcome of its message. `confirmation` is
 * the text that confirms an opt-out.
 */
export function createIncoming(
  ports: Pick<Ports, 'deliveryReceipts' | 'unreadReceipts' | 'unknownMessages' | 'inbox' | 'clock'>,
  carrier: CarrierId,
  { inFlight, outcomes }: { readonly inFlight: InFlight; readonly outcomes: OutcomeWriter },
  confirmation: Body,
): Incoming {
  const { inbox, deliveryReceipts, unreadReceipts, unknownMessages, clock } = ports
  const receipts = createHoldBackQueue<DeliveryReceipt>((some) => deliveryReceipts.apply(some), {
    holdsBack: (some) => () => some.some(({ reference }) => outcomes.hasReference(reference)),
    keyOf: ({ reference }) => reference,
    isRepeatable: () => true,
    batchMax: receiptsMax,
  })
  const store = receive(ports, confirmation)
  const inbound = createHoldBackQueue((some: readonly InboundMessage[]) => store(some).then(() => []), {
    holdsBack: holdUntilRecorded(inFlight, outcomes),
    keyOf: ({ from }) => from,
    isRepeatable: (message) => deduplicationKeyOf(message) !== undefined,
    batchMax: inboundMax,
  })
  return {
    handlers: {
      receipts: (some) => receipts.add(some),
      inboundMessages: (some) => inbound.add(some),
      offersEnded: (offers) => inbox.endOffers(carrier, offers),
      receiptForm: {
        learned: () => deliveryReceipts.learnedForm(carrier),
        keep: (form) => deliveryReceipts.keepLearnedForm(carrier, form),
      },
      unreadReceipts: {
        ...unreadReceipts,
        // Carriers reuse their references after some days.
        list: async (after, countMax) => {
          const since = daysBefore(clock.now(), receiptMatching.referenceDays)
          const receipts = await unreadReceipts.list(after, countMax, { carrier })
          return receipts.map((one) => ({ ...one, isStale: one.at < since }))
        },
      },
      unknownMessages: {
        keep: (references) => unknownMessages.keep(carrier, references),
        take: (selection) => unknownMessages.take(carrier, selection),
      },
    },
    run() {
      receipts.run()
      inbound.run()
    },
  }
}
