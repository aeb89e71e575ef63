import type { InboundMessage } from '../inbox/inbound-message.ts'
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
   * Resolves once the items are stored, to those that the store returned; rejects if that failed, and then nobody tries
   * them again.
   */
  add(items: readonly Item[]): Promise<readonly Item[]>
  /** Goes on with what waits. To be called when messages were recorded. */
  run(): void
}

/**
 * Stores items in batches, of `batchMax` items or one call of `add`, in their order but for those that have to wait:
 * `holdsBack` looks at the items of a call when they come and returns whether they still have to, which is asked before
 * each batch. So a receipt or reply that is faster than the record of its message finds it at the first look.
 */
export function createHoldBackQueue<Item>(
  store: (items: readonly Item[]) => Promise<readonly Item[]>,
  holdsBack: (items: readonly Item[]) => () => boolean,
  batchMax: number,
): HoldBackQueue<Item> {
  interface Entry {
    readonly items: readonly Item[]
    readonly isHeld: () => boolean
    resolve(returned: readonly Item[]): void
    reject(problem: unknown): void
  }
  let waiting: Entry[] = []
  let busy = false

  function takeReady(): readonly Entry[] {
    const ready: Entry[] = []
    const held: Entry[] = []
    let count = 0
    for (const entry of waiting) {
      if (count < batchMax && !entry.isHeld()) {
        ready.push(entry)
        count += entry.items.length
      } else held.push(entry)
    }
    waiting = held
    return ready
  }

  async function storeAll(): Promise<void> {
    busy = true
    for (let ready = takeReady(); ready.length > 0; ready = takeReady()) {
      try {
        const returned = await store(ready.flatMap(({ items }) => items))
        for (const entry of ready)
          entry.resolve(returned.length === 0 ? returned : entry.items.filter((item) => returned.includes(item)))
      } catch (problem) {
        for (const entry of ready) entry.reject(problem)
      }
    }
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
  const receipts = createHoldBackQueue<DeliveryReceipt>(
    (some) => deliveryReceipts.apply(some),
    (some) => () => some.some(({ reference }) => outcomes.hasReference(reference)),
    receiptsMax,
  )
  const store = receive(ports, confirmation)
  const inbound = createHoldBackQueue(
    (some: readonly InboundMessage[]) => store(some).then(() => []),
    holdUntilRecorded(inFlight, outcomes),
    inboundMax,
  )
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
