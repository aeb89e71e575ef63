import type { Account, AccountId, ApiKey, KeyHash } from '@gateway/core/accounts'
import type { BulkRow, BulkSend, EndedCall, NewBulkSend } from '@gateway/core/bulk-sends'
import type { FirstAnswer } from '@gateway/core/client-requests'
import type { Credits, Movement } from '@gateway/core/credits'
import type { CarrierId, ClaimedBatchId, Lane, ProcessPlace, Promotion } from '@gateway/core/dispatch'
import type { InboundMessageId, Taking } from '@gateway/core/inbox'
import type {
  Body,
  CarrierPrice,
  MessageId,
  MessageReference,
  Msisdn,
  OutcomeCode,
  SenderAddress,
  SendOptions,
} from '@gateway/core/messages'
import type { Operator, OperatorSession, PasswordHash, Session, User } from '@gateway/core/people'
import type { QueueNumber, RouteNumber } from '@gateway/core/routes'
import type {
  BindReport,
  NewBind,
  SmppCredential,
  SmppCredentialId,
  SmppDelivery,
  SmppProcessId,
  StoredPart,
} from '@gateway/core/smpp-customers'
import type { Instant } from '@gateway/core/time'
import type { EventListId, PushAttempt, ReplayTask, Webhook, WebhookEvent, SealedSecret } from '@gateway/core/webhooks'

export interface AccountRow {
  account: Account
  password: PasswordHash | undefined
  balance: Credits
  /** All movements, whose sum is the balance. */
  readonly entries: Omit<Movement, 'balance' | 'account'>[]
  readonly keys: KeyRow[]
}

export interface KeyRow {
  key: ApiKey
  readonly hash: KeyHash
}

export interface SecondFactorRow {
  secret: SealedSecret
  readonly since: Instant
  /** Last time step that was used (RFC 6238). */
  step: number
  recoveryCodes: Set<KeyHash>
}

export interface SessionRow {
  readonly secondFactor: boolean
  session: Session
  /** Hash of the owner's password when the session was opened. */
  readonly password: PasswordHash | undefined
}

export interface UserRow {
  user: User
  password: PasswordHash | undefined
  /** Link with which a password is set. */
  link: { readonly hash: KeyHash; readonly until: Instant } | undefined
}

export interface OperatorRow {
  operator: Operator
  password: PasswordHash
}

export interface OperatorSessionRow {
  session: OperatorSession
  readonly password: PasswordHash
}

export interface BulkSendRow {
  send: NewBulkSend & Pick<BulkSend, 'id' | 'account' | 'state' | 'revision' | 'created' | 'started' | 'failedOver'>
  due: Instant
  calls: readonly { rows: readonly BulkRow[]; ended: Omit<EndedCall, 'refusedRows'> | undefined }[]
}

export interface ClientRequestRow {
  readonly canonical: string
  readonly answer: FirstAnswer
  readonly at: Instant
}

/** A send: one text to many numbers. */
export interface Send {
  readonly first: MessageId
  readonly account: AccountId
  readonly body: Body
  readonly lane: Lane
  readonly route: RouteNumber
  readonly submitted: Instant
  /** When the send is due: its scheduled time, or the time of acceptance. */
  readonly due: Instant
  /** Time at which waiting messages expire. Undefined if the setting of the dispatchers applies. */
  readonly expires: Instant | undefined
  readonly options: SendOptions
  /** True if the send was scheduled for later when it was accepted. */
  readonly scheduled: boolean
  /** True if the send confirms an opt-out. */
  readonly confirmation: boolean
}

export interface MessageRow {
  readonly id: MessageId
  readonly send: Send
  readonly from: SenderAddress
  readonly number: Msisdn
  readonly cost: Credits
  /** Client's reference of the message. Undefined if the message has none, or if it was erased. */
  readonly reference?: MessageReference | undefined
  /** Undefined while the message waits. */
  decision: Decision | undefined
  /** True if an operator refunded the message. */
  refund?: { readonly at: Instant; readonly why: string }
}

export interface Decision {
  readonly code: OutcomeCode
  /** Time of the current state. */
  readonly at: Instant
  /** Carrier that has, or may have, the message. */
  readonly carrier: CarrierId | undefined
  /** Time at which the message was submitted, or at which it ended without a submission. */
  readonly handedOver: Instant
  /**
   * Carrier's id of the message. Undefined if the carrier did not accept the message, or if its acceptance is not
   * known.
   */
  readonly reference: string | undefined
  /** Parts of the message, if the carrier accepted it as several. */
  readonly parts: readonly Part[]
  /** Price that the carrier named for the message. */
  readonly carrierPrice?: CarrierPrice
}

export interface Part {
  readonly reference: string
  readonly code: OutcomeCode
  /** When the receipt of the part arrived. */
  readonly at: Instant | undefined
}

/** Waiting messages of one send, with ascending ids, that move together. */
export interface Range {
  readonly send: Send
  readonly queue: QueueNumber
  readonly messages: readonly MessageRow[]
  readonly attempt: number
  /** Earliest time of the range. */
  readonly at: Instant
}

export interface PromotionRow {
  readonly promotion: Pick<Promotion, 'id' | 'noticed' | 'messages'>
  decision: Promotion['decision']
  /** Ranges in doubt, by their first ids. */
  ranges: readonly Range[]
}

export interface DispatcherRow {
  readonly since: Instant
  readonly version: string | undefined
  readonly place: ProcessPlace | undefined
  leaseUntil: Instant
  readonly batches: Map<ClaimedBatchId, ClaimedBatchRow>
}

export interface ClaimedBatchRow {
  readonly carrier: CarrierId
  readonly queue: QueueNumber
  marked: number
  /** Messages of the batch that are neither recorded nor returned to the queue, in order of submission. */
  readonly messages: Map<MessageId, ClaimedRow>
}

export interface ClaimedRow {
  readonly row: MessageRow
  readonly attempt: number
  /** Position in the batch as claimed, from 1. */
  readonly position: number
}

/** A sent message that a person may answer. */
export interface LastContact {
  readonly account: AccountId
  readonly id: MessageId
  readonly from: SenderAddress
  readonly at: Instant
}

export interface InboundMessageRow {
  readonly id: InboundMessageId
  readonly carrier: CarrierId
  readonly from: string
  readonly to: string | undefined
  readonly at: Instant
  readonly text: string
  /** Account of the message; undefined for none. */
  readonly account: AccountId | undefined
  readonly answers: MessageId | undefined
  readonly shortCode: SenderAddress | undefined
  /** Call that returned the message; undefined while it is still offered. */
  taking: Taking | undefined
}

export interface WebhookRow {
  webhook: Webhook
  /** Increases with each new secret of the endpoint. */
  secretOrder: number
  /** Events in no list yet, the oldest first, with their texts. */
  readonly waiting: WebhookEvent[]
  readonly lists: Map<EventListId, EventListRow>
}

export interface ReplayRow {
  task: ReplayTask
  readonly account: AccountId
}

export interface EventListRow {
  readonly id: EventListId
  readonly events: readonly WebhookEvent[]
  /** `replayed`: the list was dead and its events wait again. `failed`: a test event failed. */
  state: 'open' | 'delivered' | 'dead' | 'replayed' | 'failed'
  /** Number of attempts started. */
  tries: number
  /** Time of the next attempt, or of the end of the lease. */
  due: Instant
  leased: boolean
  /** Attempts, the oldest first. */
  readonly attempts: PushAttempt[]
}

export interface SmppCredentialRow {
  credential: SmppCredential
  password: PasswordHash
}

export interface SmppBindRow {
  readonly bind: NewBind
  readonly credential: SmppCredentialId
  readonly since: Instant
  report: BindReport
  /** True if the bind is to be probed. */
  probe: boolean
}

export interface SmppPartRow {
  part: StoredPart
  readonly at: Instant
  state: 'waiting' | { readonly message: MessageId } | { readonly code: OutcomeCode; readonly at: Instant }
}

export interface SmppDeliveryRow {
  delivery: SmppDelivery
  readonly stored: Instant
  /** Message in whose trace a lost delivery is noted. */
  readonly notedOn: MessageId | undefined
  /** Time of the next attempt, or of the end of the lease. */
  due: Instant
  /** Process that has claimed it. */
  process: SmppProcessId | undefined
}
