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

/** Stores what a carrier brings, some of which has to wait. */
export interface HoldBackQueue<Item> {
  /**
   * Resolves once the items are stored, to those that the store returned; rejects if that failed. The carrier offers
   * them again then; should a later item of the same key come first, they are stored before it all the same.
   */
  add(items: readonly Item[]): Promise<readonly Item[]>
  /** Goes on with what waits. To be called when messages were recorded. */
  run(): void
}

export interface HoldBackSettings<Item> {
  /** Looks at the items of a call when they come. The result says before each batch whether they still have to wait. */
  readonly holdsBack: (items: readonly Item[]) => () => boolean
  /** Items of one key are stored in the order in which they came. */
  readonly keyOf: (item: Item) => string
  /** True if storing the item twice is storing it once. Only such items are stored after a failure. */
  readonly isRepeatable: (item: Item) => boolean
  /** Maximum number of items of a batch, unless one call has more. */
  readonly batchMax: number
}

/**
 * Stores items in batches. An item that has to wait lets items of other keys pass, so that a receipt or reply that is
 * faster than the record of its message finds it at the first look; it never lets one of its own key pass (P-7).
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
    const held: Entry[] = []
    const heldKeys = new Set<string>()
    let count = 0
    for (const entry of waiting) {
      const isBehind = heldKeys.size > 0 && entry.items.some((item) => heldKeys.has(keyOf(item)))
      if (count < batchMax && !isBehind && !entry.isHeld()) {
        ready.push(entry)
        count += entry.items.length
        continue
      }
      held.push(entry)
      for (const item of entry.items) heldKeys.add(keyOf(item))
    }
    waiting = held
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

/** Maximum number of items that are remembered after they could not be stored; the oldest are forgotten first. */
const failedMax = 10_000

/**
 * Items that could not be stored. A carrier offers them again at a time of its own, perhaps after a later item of the
 * same key; whoever stores that one takes these first.
 */
function createFailedItems<Item>(keyOf: (item: Item) => string) {
  let items: readonly Item[] = []
  return {
    /** Takes out those that belong before these items. */
    take(before: readonly Item[]): readonly Item[] {
      if (items.length === 0) return []
      const keys = new Set(before.map(keyOf))
      const taken = items.filter((item) => keys.has(keyOf(item)))
      if (taken.length > 0) items = items.filter((item) => !keys.has(keyOf(item)))
      return taken
    },
    keep(more: readonly Item[]): void {
      items = [...items, ...more].slice(-failedMax)
    },
  }
}

/**
 * Whether one of these inbound messages may answer a message of which it is not recorded yet that it was sent. Only
 * what was submitted before they came counts: to a number that is written to all the time there is always something
 * that is not recorded.
 */
export const holdUntilRecorded =
  ({ unanswered }: Pick<InFlight, 'unanswered'>, outcomes: Pick<OutcomeWriter, 'has' | 'messagesTo'>) =>
  (inbound: readonly InboundMessage[]): (() => boolean) => {
    const numbers = new Set<string>(inbound.map(({ from }) => from.replace(/^\+/, '')))
    const before = [...outcomes.messagesTo(numbers)]
    for (const [id, { message }] of unanswered) if (numbers.has(message.to)) before.push(id)
    const isOpen = (id: MessageId): boolean => unanswered.has(id) || outcomes.has(id)
    return () => {
      for (let id = before.at(-1); id !== undefined; id = before.at(-1)) {
        if (isOpen(id)) return true
        before.pop() // it is recorded, or the carrier did not take it
      }
      return false
    }
  }

/** Delivery receipts and inbound messages of one commit at the most; a larger backlog is taken in several. */
const receiptsMax = 2000
const inboundMax = 500

/** What a carrier brings: receipts and what people wrote. */
export interface Incoming {
  readonly handlers: CarrierHandlers
  /** Goes on with what waits. To be called when messages were recorded. */
  run(): void
}

/** Stores both, each behind the outcome of its message. `confirmation`: the text that confirms an opt-out. */
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
        // Carriers use their references again after some days.
        list: async (after, countMax) => {
          const since = daysBefore(clock.now(), receiptMatching.referenceDays)
          const kept = await unreadReceipts.list(after, countMax, { carrier })
          return kept.map((one) => ({ ...one, isStale: one.at < since }))
        },
      },
      unknownMessages: {
        keep: (references) => unknownMessages.keep(carrier, references),
        take: (wanted) => unknownMessages.take(carrier, wanted),
      },
    },
    run() {
      receipts.run()
      inbound.run()
    },
  }
}
