import type { InboundMessage } from '../inbox/inbound-message.ts'
import type { Body } from '../messages/body.ts'
import type { MessageId } from '../messages/messages.ts'
import type { Msisdn, SenderAddress } from '../messages/msisdn.ts'
import type { ClaimedOptions } from '../messages/send-options.ts'
import type { CarrierId } from './carrier-id.ts'
import type { PduObserver } from '../fleet/carrier-watches.ts'
import type { CircuitBounds, CircuitProblem, CircuitState } from './circuit-breaker.ts'
import type { DeliveryReceipt, CarrierReferences } from './delivery-receipt.ts'
import type { HistogramCounts } from '../fleet/histogram.ts'
import type { UnknownMessage, WantedUnknown } from './unknown-messages.ts'
import type { KeptUnreadReceipt, UnreadReceipt, UnreadReceiptId } from './unread-receipts.ts'

/**
 * Whether a carrier takes messages now. Throttled: it takes some, and said that it gets too much, or answers slowly.
 * Probing: after silence or failures it is tried with a few. Both take what they have room for, and others of the
 * route the rest. Down: it takes none.
 */
export type Availability = 'available' | 'throttled' | 'probing' | 'down'

/**
 * What operators want of a carrier. Paused: it gets nothing new; its connections stay, and bring receipts and replies.
 * Drained: the same, and its connections end once nothing is unanswered.
 */
export type CarrierMode = 'running' | 'paused' | 'drained'

/** What a carrier is asked to take. */
export interface Submission {
  readonly id: MessageId
  /** The address that it leaves from; undefined: whichever the carrier has for us. */
  readonly from: SenderAddress | undefined
  readonly to: Msisdn
  readonly body: Body
  /** So long the carrier may try from now on; undefined: as its settings say (ruling 1.29). */
  readonly validSeconds?: number | undefined
  /** An option that is undefined is as the carrier's settings say. */
  readonly options?: ClaimedOptions | undefined
  /** A carrier refused the message for now before: another refusal says nothing about this one. */
  readonly refusedBefore?: true | undefined
}

/**
 * The carrier's answer to one submission. Refused for now is the only answer after which the message may be submitted
 * again (P-5). Partly: it has some of the parts and will not get the others, so that the message has failed and stays
 * charged.
 */
export type SubmissionAnswer =
  | ({ readonly id: MessageId; readonly outcome: 'accepted' | 'partly' } & CarrierReferences)
  | { readonly id: MessageId; readonly outcome: 'refused' | 'unknown' }
  | { readonly id: MessageId; readonly outcome: 'refused-for-now' }

export interface CarrierHandlers {
  /**
   * What arrived is acknowledged to the network only after this has resolved (P-7); if it rejects, it is offered
   * again. Resolves to those of the receipts whose message is not known (yet).
   */
  receipts(receipts: readonly DeliveryReceipt[]): Promise<readonly DeliveryReceipt[]>
  /** The same for messages that people sent to us. */
  inboundMessages(messages: readonly InboundMessage[]): Promise<unknown>
  /**
   * The carrier certainly has the acknowledgements of these hand-overs (`offer`): what comes under their names again
   * is another message.
   */
  readonly offersEnded?: (offers: readonly string[]) => Promise<void>
  /**
   * Keeps over a restart how the carrier writes ids in receipts, where it has to be found out; undefined: nothing is
   * kept.
   */
  readonly receiptForm?: {
    learned(): Promise<string | undefined>
    keep(form: string): Promise<void>
  }
  /** Keeps what this carrier delivered and cannot read (P-21); undefined: it is dropped. */
  readonly unreadReceipts?: {
    keep(receipts: readonly UnreadReceipt[]): Promise<void>
    /** The oldest first. A receipt that `isStale` is too old to find the right message. */
    list(
      after: UnreadReceiptId | undefined,
      countMax: number,
    ): Promise<readonly (KeptUnreadReceipt & { readonly isStale?: boolean })[]>
    drop(ids: readonly UnreadReceiptId[]): Promise<void>
  }
  /** Of this carrier, for one that can be asked what became of them (`UnknownMessages`); undefined: it is not asked. */
  readonly unknownMessages?: {
    keep(references: readonly string[]): Promise<void>
    take(wanted: WantedUnknown): Promise<readonly UnknownMessage[]>
  }
}

/** What an operator wants to know of a carrier over a network: now, and since the start. */
export interface CarrierStatus {
  /** So many submissions may be unanswered now, over the connections that are bound. */
  readonly window: number
  /**
   * Its connections; `boundSince` in milliseconds since 1970, undefined: it is not bound. `inUse`: requests without
   * an answer.
   */
  readonly links: readonly { readonly role: string; readonly boundSince: number | undefined; readonly inUse: number }[]
  /** Parts a second that it may get; undefined: as many as it answers. */
  readonly perSecond: number | undefined
  /** It said that it gets too much, and gets less for a while. */
  readonly isThrottled: boolean
  /** Submissions that wait for a link or for their turn. */
  readonly waiting: number
  readonly lastError: string | undefined
  /**
   * Receipts that came, and those of them that found no message within a minute; `form`: how it writes its ids in
   * them, if that is known.
   */
  readonly receipts: { readonly received: number; readonly missed: number; readonly form: string | undefined }
  /** Receipts, messages and PDUs that could not be read and are kept. */
  readonly unreadable: number
  /** Undefined: it has none. */
  readonly circuit: CircuitStatus | undefined
}

/** How its circuit breaker is. */
export interface CircuitStatus extends CircuitBounds {
  readonly state: CircuitState
  /** Milliseconds since 1970. */
  readonly since: number
  /** Why it was opened last. */
  readonly reason: CircuitProblem | undefined
  /** How long answers take, in milliseconds; undefined: there was none. */
  readonly answerMilliseconds: number | undefined
  /** An answer that takes longer shrinks the window. */
  readonly slowSeconds: number
}

/** A link that takes messages and brings receipts and replies. */
export interface Carrier {
  readonly id: CarrierId
  /** So many submissions may be unanswered at a time. */
  readonly window: number
  /**
   * How many more submissions would leave now, at no cost: fewer than the window where answers are slow or the
   * carrier gets less. Undefined: as many as the window has left.
   */
  readonly room?: () => number
  /** Answers what has not left as refused for now, at once: others take it. Undefined: nothing waits in it. */
  readonly handBack?: () => void
  /**
   * Hands messages over in this order and calls `answered`, in one or several batches, with exactly one answer for
   * each in bounded time: unknown if it cannot be told whether the carrier took it. Never throws.
   */
  submit(messages: readonly Submission[], answered: (answers: readonly SubmissionAnswer[]) => void): void
  /** Called once, before the first submission. */
  listen(handlers: CarrierHandlers): void
  /** Lets what is unanswered be answered, then ends the link; waits no longer once `deadline` has resolved. */
  close(deadline: Promise<unknown>): Promise<void>
  /** Whether it takes messages now, at no cost. Undefined: always. */
  readonly availability?: () => Availability
  /** Its operator wants it to take nothing: what has not left is for others. Undefined: never. */
  readonly isHeld?: () => boolean
  /** Told when that changes, perhaps before `listen`. Drained, it ends its connections once nothing is unanswered. */
  readonly setMode?: (mode: CarrierMode) => void
  /** Calls `changed` whenever `availability` has changed by itself; called once, before the first submission. */
  readonly onAvailability?: (changed: () => void) => void
  /** From the moment in which a request left to its answer, in seconds. Undefined: it is not measured. */
  readonly responseTime?: () => HistogramCounts
  /** From now on these are told of its PDUs, and no others. Undefined: it has none. */
  readonly observe?: (observers: readonly PduObserver[]) => void
  /** Undefined: there is nothing to tell. */
  readonly status?: () => CarrierStatus
}
