import type { Account, AccountId, ApiKey, KeyHash } from '@gateway/core/accounts'
import type { BulkRow, BulkSend, EndedCall } from '@gateway/core/bulk-sends'
import type { FirstAnswer } from '@gateway/core/client-requests'
import type { Credits, Movement } from '@gateway/core/credits'
import type { CarrierId, ClaimedBatchId, Lane, ProcessPlace, Promotion } from '@gateway/core/dispatch'
import type { InboundMessageId, Taking } from '@gateway/core/inbox'
import type {
  Body,
  MessageId,
  MessageReference,
  Msisdn,
  OutcomeCode,
  SenderAddress,
  SendOptions,
} from '@gateway/core/messages'
import type { Operator, OperatorSession, PasswordHash, Session, User } from '@gateway/core/people'
import type { QueueNumber, RouteNumber } from '@gateway/core/routes'
import type { Instant } from '@gateway/core/time'
import type { EventListId, PushAttempt, ReplayTask, Webhook, WebhookEvent, SealedSecret } from '@gateway/core/webhooks'

export interface AccountRow {
  account: Account
  password: PasswordHash | undefined
  balance: Credits
  /** Every movement; they add up to the balance. */
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
  /** The last one that was used. */
  step: number
  recoveryCodes: Set<KeyHash>
}

export interface SessionRow {
  readonly secondFactor: boolean
  session: Session
  /** Of its owner, when it was opened. */
  readonly password: PasswordHash | undefined
}

export interface UserRow {
  user: User
  password: PasswordHash | undefined
  /** By which a password is set. */
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
  send: Pick<
    BulkSend,
    'id' | 'account' | 'state' | 'created' | 'started' | 'failedOver' | 'columns' | 'text' | 'scheduled' | 'key'
  >
  due: Instant
  readonly calls: { rows: readonly BulkRow[]; ended: Omit<EndedCall, 'left'> | undefined }[]
}

export interface ClientRequestRow {
  readonly asked: string
  readonly answer: FirstAnswer
  readonly at: Instant
}

/** One text to many numbers. */
export interface Send {
  readonly first: MessageId
  readonly account: AccountId
  readonly body: Body
  readonly lane: Lane
  readonly route: RouteNumber
  readonly submitted: Instant
  /** When it is to be sent; when it was accepted, if that was to be at once. */
  readonly due: Instant
  /** Undefined: by the setting of dispatchers. */
  readonly expires: Instant | undefined
  readonly options: SendOptions
  /** Whether it was to be sent later, when it was accepted. */
  readonly scheduled: boolean
  /** It confirms an opt-out. */
  readonly confirmation: boolean
}

export interface MessageRow {
  readonly id: MessageId
  readonly send: Send
  readonly from: SenderAddress
  readonly number: Msisdn
  readonly cost: Credits
  /** Left out: it has none, or it was erased. */
  readonly reference?: MessageReference | undefined
  /** Undefined while it waits. */
  decision: Decision | undefined
  /** The operator gave its charge back. */
  refund?: { readonly at: Instant; readonly why: string }
}

export interface Decision {
  readonly code: OutcomeCode
  /** When this state was reached. */
  readonly at: Instant
  /** The carrier that has it, or may have it. */
  readonly carrier: CarrierId | undefined
  /** When it was handed over, or ended without that. */
  readonly left: Instant
  /** The carrier's own id; undefined: never accepted, or not known to be. */
  readonly reference: string | undefined
  /** Of a message that the carrier took as several parts. */
  readonly parts: readonly Part[]
}

export interface Part {
  readonly reference: string
  readonly code: OutcomeCode
  /** When its receipt came. */
  readonly at: Instant | undefined
}

/** Waiting messages of one send, with ascending ids, that move together. */
export interface Range {
  readonly send: Send
  readonly queue: QueueNumber
  readonly messages: readonly MessageRow[]
  readonly attempt: number
  /** Not before. */
  readonly at: Instant
}

export interface PromotionRow {
  readonly promotion: Pick<Promotion, 'id' | 'noticed' | 'messages'>
  decision: Promotion['decision']
  /** In doubt, by their first ids. */
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
  /** What is neither recorded nor given back, in order of submission. */
  readonly held: Map<MessageId, Held>
}

export interface Held {
  readonly row: MessageRow
  readonly attempt: number
  /** Of its batch as it was claimed, from 1. */
  readonly position: number
}

/** A message that somebody may answer. */
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
  /** Undefined: nobody. */
  readonly account: AccountId | undefined
  readonly answers: MessageId | undefined
  readonly shortCode: SenderAddress | undefined
  /** The call that took it; undefined: it is offered. */
  taken: Taking | undefined
}

export interface WebhookRow {
  webhook: Webhook
  /** Counts up with each secret that an endpoint is given. */
  secretOrder: number
  /** In no list yet, oldest first; with their texts. */
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
  /** Replayed: it was dead, and its events wait again. Failed: a test. */
  state: 'open' | 'delivered' | 'dead' | 'replayed' | 'failed'
  /** How many were begun. */
  tries: number
  /** When it is to be tried again, or its lease is over. */
  due: Instant
  leased: boolean
  /** Oldest first. */
  readonly attempts: PushAttempt[]
}
