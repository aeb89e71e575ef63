import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { InboundMessageId } from '../inbox/inbox.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { Msisdn, SenderAddress } from '../messages/msisdn.ts'
import type { OutcomeCode } from '../messages/status-code.ts'
import type { Instant } from '../time/instant.ts'
import type { SmppProcessId } from './smpp-binds.ts'
import type { SmppCredentialId } from './smpp-credential.ts'
import type { SmppOptions } from './smpp-options.ts'

export type SmppDeliveryId = Brand<number, 'SmppDeliveryId'>

/** Receipt or intermediate notification for a message or part that a customer submitted over SMPP. */
export interface SmppReceipt {
  /** `notification`: the outcome may still change (bit 4 of registered_delivery). */
  readonly kind: 'receipt' | 'notification'
  /** Id that the customer got for the message or the part. */
  readonly message: MessageId
  readonly number: Msisdn
  /** Address from which the message was sent; undefined: a part of a text that never became a message. */
  readonly from: SenderAddress | undefined
  readonly smpp: SmppOptions
  readonly code: OutcomeCode
  /** True if a carrier accepted the message or may have accepted it (`isAcceptedByCarrier`). */
  readonly isAccepted: boolean
  /** Time at which the message or the part was accepted. */
  readonly submitted: Instant
  /** Time at which the message reached this outcome. */
  readonly at: Instant
}

/** Inbound message to be delivered to a customer. */
export interface SmppReply {
  readonly kind: 'reply'
  readonly inbound: InboundMessageId
  readonly from: string
  readonly to: string | undefined
  readonly text: string
  readonly at: Instant
}

/** Delivery claimed by one process, which alone sends it until the lease ends. */
export type SmppDelivery = (SmppReceipt | SmppReply) & {
  readonly id: SmppDeliveryId
  readonly account: AccountId
  /**
   * Credential that submitted the message, or the message that a reply answers; undefined: any of the account.
   */
  readonly credential: SmppCredentialId | undefined
  /** Number of the attempt, from 1. A result with another number is too late and is ignored. */
  readonly tries: number
}

/** Receiving binds of a process for one credential. */
export interface SmppReceiver {
  readonly account: AccountId
  readonly credential: SmppCredentialId
  /** Maximum number of deliveries to claim for these binds. */
  readonly room: number
}

export interface DeliveryClaim {
  readonly process: SmppProcessId
  readonly receivers: readonly SmppReceiver[]
  readonly leaseSeconds: number
}

/**
 * Result of an attempt. `delivered`: the client acknowledged it. `refused`: the client refused it for good; it is
 * dropped, and the trace of the message says so. `retry`: the client refused it temporarily or did not answer.
 * `unsent`: it was not sent, so the attempt does not count.
 */
export type DeliveryVerdict = 'delivered' | 'refused' | 'retry' | 'unsent'

export interface DeliveryResult {
  readonly id: SmppDeliveryId
  readonly tries: number
  readonly verdict: DeliveryVerdict
  /** Seconds until the next attempt, after `retry`. */
  readonly pauseSeconds: number
}

/** Deliveries that wait, of one account or of all. */
export interface WaitingDeliveries {
  readonly receipts: number
  readonly replies: number
  /** Time at which the oldest of them was stored. */
  readonly oldest: Instant | undefined
}

/**
 * Receipts and replies for customers over SMPP. Other ports (`ClaimedBatches`, `DeliveryReceipts`, `Messages`, `Inbox`,
 * `SmppParts`) store a receipt in the transaction that changes the outcome, for every part that requested it
 * (`receiptFor`), and a reply in the transaction that stores the message of the person. They are delivered at least
 * once, and never to another account.
 */
export interface SmppDeliveries {
  /**
   * Claims deliveries that are due by the store's clock, oldest first. A receiver gets deliveries of its credential,
   * deliveries without a credential, and deliveries of a credential of the same account that has no receiving bind in
   * any live process. Deliveries about one message id are claimed in their order, each after the previous one has
   * ended. A delivery is due again when its lease has ended.
   */
  claim(claim: DeliveryClaim): Promise<readonly SmppDelivery[]>
  /** Stores results of attempts. Ignores results that are too late. */
  settle(process: SmppProcessId, results: readonly DeliveryResult[]): Promise<void>
  /**
   * Drops deliveries that were stored more than `hours` ago, with a note in the traces of their messages. Drops at most
   * `rowsMax` and returns their number.
   */
  drop(hours: number, rowsMax: number): Promise<number>
  /** Counts waiting deliveries of one account, or of all. */
  waiting(account: AccountId | undefined): Promise<WaitingDeliveries>
}
