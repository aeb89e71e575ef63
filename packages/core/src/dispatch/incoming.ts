import { deduplicationKeyOf, type InboundMessage } from '../inbox/inbound-message.ts'
import { receive } from '../inbox/receive.ts'
import type { Body } from '../messages/body.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { Ports } from '../ports.ts'
import { daysBefore } from '../time/instant.ts'
import type { CarrierHandlers } from './carrier.ts'
import type { CarrierId } from './carrier-id.ts'
import { type DeliveryReceipt, receiptMatching } from './delivery-receipt.ts'
import { HoldBackQueue } from './hold-back-queue.ts'
import type { InFlight } from './in-flight.ts'
import type { OutcomeWriter } from './outcome-writer.ts'

type IncomingPorts = Pick<Ports, 'deliveryReceipts' | 'inbox' | 'clock'>

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

/**
 * Stores the receipts and inbound messages of one carrier, each after the outcome of its message. `confirmation` is the
 * text that confirms an opt-out.
 */
export class Incoming {
  readonly handlers: CarrierHandlers
  readonly #receipts: HoldBackQueue<DeliveryReceipt>
  readonly #inbound: HoldBackQueue<InboundMessage>

  constructor(
    ports: IncomingPorts,
    carrier: CarrierId,
    { inFlight, outcomes }: { readonly inFlight: InFlight; readonly outcomes: OutcomeWriter },
    confirmation: Body,
  ) {
    this.#receipts = new HoldBackQueue((some) => ports.deliveryReceipts.apply(some), {
      holdsBack: (some) => () => some.some(({ reference }) => outcomes.hasReference(reference)),
      keyOf: ({ reference }) => reference,
      isRepeatable: () => true,
      batchMax: receiptsMax,
    })
    const store = receive(ports, confirmation)
    this.#inbound = new HoldBackQueue((some) => store(some).then(() => []), {
      holdsBack: holdUntilRecorded(inFlight, outcomes),
      keyOf: ({ from }) => from,
      isRepeatable: (message) => deduplicationKeyOf(message) !== undefined,
      batchMax: inboundMax,
    })
    this.handlers = {
      receipts: (some) => this.#receipts.add(some),
      inboundMessages: (some) => this.#inbound.add(some),
      ...storesOf(ports, carrier),
    }
  }

  /** Continues with waiting items. To be called when outcomes of messages were recorded. */
  run(): void {
    this.#receipts.run()
    this.#inbound.run()
  }
}

/** Returns the handlers of one carrier, except those for receipts and inbound messages. */
const storesOf = (
  { inbox, deliveryReceipts, clock }: IncomingPorts,
  carrier: CarrierId,
): Omit<CarrierHandlers, 'receipts' | 'inboundMessages'> => ({
  offersEnded: (offers) => inbox.endOffers(carrier, offers),
  receiptForm: {
    learned: () => deliveryReceipts.learnedForm(carrier),
    keep: (form) => deliveryReceipts.keepLearnedForm(carrier, form),
  },
  unreadReceipts: {
    keep: (receipts) => deliveryReceipts.storeUnread(receipts),
    drop: (ids) => deliveryReceipts.dropUnread(ids),
    // An old receipt may belong to another message, because carriers reuse their references after some days.
    list: async (after, countMax) => {
      const since = daysBefore(clock.now(), receiptMatching.referenceDays)
      const receipts = await deliveryReceipts.listUnread(after, countMax, { carrier })
      return receipts.map((one) => ({ ...one, isStale: one.at < since }))
    },
  },
  unknownMessages: {
    keep: (references) => deliveryReceipts.storeUnknown(carrier, references),
    take: (selection) => deliveryReceipts.takeUnknown(carrier, selection),
  },
})
