import type { InboundMessage } from '../inbox/inbound-message.ts'
import type { Body } from '../messages/body.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { Msisdn, SenderAddress } from '../messages/msisdn.ts'
import type { ClaimedOptions } from '../messages/send-options.ts'
import type { CarrierId } from './carrier-id.ts'
import type { Refused } from './claimed-batches.ts'
import type { Instant } from '../time/instant.ts'
import type { TrafficObserver } from '../fleet/carrier-watches.ts'
import type { CarrierStatus } from './carrier-status.ts'
import type { DeliveryReceipt, CarrierReferences } from './delivery-receipt.ts'
import type { HistogramCounts } from '../fleet/histogram.ts'
import type { UnknownMessage, WantedUnknown } from './unknown-message.ts'
import type { StoredUnreadReceipt, UnreadReceipt, UnreadReceiptId } from './unread-receipt.ts'

/**
 * Readiness of a carrier to accept messages. Throttled: it accepts some, but has reported that it gets too many, or
 * answers slowly. Probing: after silence or failures it is tried with a few messages. A throttled or probing carrier
 * gets as many messages as it has room for, and the other carriers of the route get the rest. Down: it accepts no
 * message.
 */
export type Availability = 'available' | 'throttled' | 'probing' | 'down'

/**
 * Mode in which an operator has put a carrier. Paused: it gets no new messages, but its connections stay open for
 * receipts and replies. Drained: as paused, and its connections are closed once no submission is outstanding.
 */
export type CarrierMode = 'running' | 'paused' | 'drained'

/** A message as it is handed to a carrier. */
export interface Submission {
  readonly id: MessageId
  /** Sender address; undefined: the carrier's default address for us. */
  readonly from: SenderAddress | undefined
  readonly to: Msisdn
  readonly body: Body
  /** When the message was first due; undefined for a message that is not stored. */
  readonly due?: Instant | undefined
  /** Seconds from now for which the carrier may try to deliver; undefined: as its settings say (ruling 1.29). */
  readonly validSeconds?: number | undefined
  /** Options of the send. For an undefined option the carrier's settings apply. */
  readonly options?: ClaimedOptions | undefined
  /**
   * True if a carrier has temporarily refused this message earlier. Another refusal of the message then says nothing
   * about the state of this carrier.
   */
  readonly refusedBefore?: true | undefined
}

/**
 * A carrier's answer to one submission. Only after 'refused-for-now' may the message be submitted again (P-5). Partly:
 * the carrier accepted some of the parts and will never get the others, so that the message has failed and stays
 * charged.
 */
export type SubmissionAnswer =
  | ({ readonly id: MessageId; readonly outcome: 'accepted' | 'partly' } & CarrierReferences)
  | ({ readonly id: MessageId } & Refused)
  | { readonly id: MessageId; readonly outcome: 'unknown' }
  | { readonly id: MessageId; readonly outcome: 'refused-for-now' }

export interface CarrierHandlers {
  /**
   * Stores receipts. The carrier acknowledges them to the network only after the promise has resolved (P-7), and offers
   * them again if it rejects. Resolves to the receipts whose message is not known (yet).
   */
  receipts(receipts: readonly DeliveryReceipt[]): Promise<readonly DeliveryReceipt[]>
  /** Stores messages that people sent to us, under the same rules as `receipts`. */
  inboundMessages(messages: readonly InboundMessage[]): Promise<unknown>
  /**
   * Ends these offers (`offer`), because their acknowledgements have certainly reached the carrier. If a message with
   * the same offer name arrives later, it is a different message.
   */
  readonly offersEnded?: (offers: readonly string[]) => Promise<void>
  /**
   * Remembers across restarts how the carrier writes ids in receipts, for a carrier whose form has to be discovered. If
   * undefined, the form is not remembered.
   */
  readonly receiptForm?: {
    learned(): Promise<string | undefined>
    keep(form: string): Promise<void>
  }
  /** Stores deliveries of this carrier that could not be read (P-21); if undefined, they are dropped. */
  readonly unreadReceipts?: {
    keep(receipts: readonly UnreadReceipt[]): Promise<void>
    /** Lists the oldest receipts first. A receipt with `isStale` is too old to be matched to the right message. */
    list(
      after: UnreadReceiptId | undefined,
      countMax: number,
    ): Promise<readonly (StoredUnreadReceipt & { readonly isStale?: boolean })[]>
    drop(ids: readonly UnreadReceiptId[]): Promise<void>
  }
  /**
   * Messages of this carrier with an unknown outcome, for a carrier that can be asked about them
   * (`DeliveryReceipts.takeUnknown`). If undefined, the carrier is not asked.
   */
  readonly unknownMessages?: {
    keep(references: readonly string[]): Promise<void>
    take(selection: WantedUnknown): Promise<readonly UnknownMessage[]>
  }
}

/**
 * A network that accepts messages and delivers receipts and replies. Each carrier implements all members;
 * `@gateway/carrier-kit` contains the code that network carriers share. Receipts may also arrive in a process other
 * than the process that submitted the message (`Processing.acceptReceipts`).
 */
export interface Carrier {
  readonly id: CarrierId
  /** Maximum number of outstanding submissions. */
  readonly window: number
  /**
   * Seconds since its first submission within which a message may be submitted again: the carrier recognizes its own id
   * and certainly does not deliver it twice. Undefined: never (P-5).
   */
  readonly repeatableSeconds?: number | undefined
  /** Registers the handlers. Called once, before the first submission. */
  listen(handlers: CarrierHandlers): void
  /**
   * Sends the messages in this order, then calls `answered`, once or several times, with exactly one answer per message
   * in bounded time: 'unknown' if nobody can tell whether the carrier accepted it. Never throws.
   */
  submit(messages: readonly Submission[], answered: (answers: readonly SubmissionAnswer[]) => void): void
  /**
   * Returns how many more submissions would be sent at once: fewer than the window allows while answers are slow or the
   * carrier is throttled. Cheap to call.
   */
  room(): number
  /**
   * Answers submissions that have not been sent yet as temporarily refused, so that other carriers get them. Does
   * nothing if the carrier queues no submissions.
   */
  handBack(): void
  /** Returns whether the carrier accepts messages now. Cheap to call. */
  availability(): Availability
  /** Calls `changed` whenever `availability` changes on its own. Called once, before the first submission. */
  onAvailability(changed: () => void): void
  /** Returns the mode that was set last; at first 'running'. */
  mode(): CarrierMode
  /**
   * Sets the mode that the operator wants, possibly before `listen`. A drained carrier closes its connections once no
   * submission is outstanding.
   */
  setMode(mode: CarrierMode): void
  /**
   * Replaces the observers of the requests and responses on the carrier's network, which are none at first. Does
   * nothing without a network.
   */
  observe(observers: readonly TrafficObserver[]): void
  /** Returns the state for operators, or undefined for a carrier without a network. */
  status(): CarrierStatus | undefined
  /** Returns the histogram of seconds from sending a request to its response, or undefined without a network. */
  responseTime(): HistogramCounts | undefined
  /** Waits for outstanding submissions, but not after `deadline` has resolved, then closes the connections. */
  close(deadline: Promise<unknown>): Promise<void>
}

/** Returns a carrier that behaves as `inner`, except for these members. */
export const wrapCarrier = (
  inner: Carrier,
  members: Partial<Omit<Carrier, 'id' | 'window' | 'repeatableSeconds'>>,
): Carrier => ({
  id: inner.id,
  window: inner.window,
  repeatableSeconds: inner.repeatableSeconds,
  listen: (handlers) => inner.listen(handlers),
  submit: (messages, answered) => inner.submit(messages, answered),
  room: () => inner.room(),
  handBack: () => inner.handBack(),
  availability: () => inner.availability(),
  onAvailability: (changed) => inner.onAvailability(changed),
  mode: () => inner.mode(),
  setMode: (mode) => inner.setMode(mode),
  observe: (observers) => inner.observe(observers),
  status: () => inner.status(),
  responseTime: () => inner.responseTime(),
  close: (deadline) => inner.close(deadline),
  ...members,
})
