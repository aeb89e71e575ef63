import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { Credits } from '../credits/credits.ts'
import type { Instant } from '../time/instant.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { Refusal } from '../messages/messages.ts'
import type { SenderAddress } from '../messages/msisdn.ts'
import type { SendOptions } from '../messages/send-options.ts'
import type { OutcomeCode } from '../messages/status-code.ts'
import type { UnreadNumber } from '../messages/written-number.ts'

export type BulkSendId = Brand<number, 'BulkSendId'>

export const bulkSendLimits = {
  /** Maximum number of rows of a send, including repetitions. */
  rowsMax: 100_000,
  /** Maximum number of rows of one call. */
  callRowsMax: 1000,
  /** Days after which an unsent draft is deleted. */
  draftDays: 30,
  /** Maximum number of drafts of an account. Further drafts are refused. */
  draftsMax: 100,
} as const

/** Reason why a row got no message. `stopped`: the send was stopped before anything of its call was accepted. */
export type RowRefusal =
  | Refusal
  | UnreadNumber
  | 'repeated'
  /** The text contains a field that is blank in this row. */
  | 'missing-value'
  /** The user has not chosen yet which column contains the numbers. */
  | 'column-not-chosen'
  | 'invalid-sender'
  | 'stopped'
  /** A promotion stopped the send, and the lost database server may have accepted this row (P-5). */
  | 'failed-over'
  /**
   * The answer to the call of this row has expired, so it is no longer possible to find out whether the row was
   * accepted.
   */
  | 'unknown'

/** Recipient as listed in the uploaded file. */
export interface BulkRow {
  /** Line in the list, from 1. */
  readonly row: number
  /** Digits to send to, or the number as written if it cannot be read. */
  readonly number: string
  /** True if `number` lacks some digits of the uploaded text. The user must then see both before sending. */
  readonly changed?: true | undefined
  /** Fields, in the order of the columns of the send. */
  readonly fields: readonly string[]
  /** Reason why it gets no message. Undefined for a row that is to be sent or was sent. */
  readonly refused?: RowRefusal | undefined
}

/** Range of consecutive ids. */
export type IdRun = readonly [first: MessageId, last: MessageId]

/** State of a send. Calls of running and stopping sends are processed. */
export type BulkSendState = 'draft' | 'running' | 'stopping' | 'ended'

/** Part of a send that its author can change until the send is started. */
export interface BulkDraft {
  /** Names that the text may use as fields: `{name}`. */
  readonly columns: readonly string[]
  readonly text: string
  /** Scheduled time; undefined: at once. */
  readonly scheduled: Instant | undefined
  /** Undefined: the account's default (ruling 1.27). */
  readonly sender?: SenderAddress | undefined
  /** Undefined: none. */
  readonly options?: SendOptions | undefined
}

export interface NewBulkSend extends BulkDraft {
  /** Secret prefix of the idempotency keys of its calls. */
  readonly key: string
}

export interface BulkSend extends NewBulkSend {
  readonly id: BulkSendId
  readonly account: AccountId
  readonly state: BulkSendState
  /** Number of changes since the draft was stored. */
  readonly revision: number
  readonly created: Instant
  readonly started: Instant | undefined
  /** Number of rows, without rows that repeat the number of another row. */
  readonly recipients: number
  readonly repeated: number
  readonly calls: number
  /** Number of calls that have ended. */
  readonly callsEnded: number
  readonly accepted: number
  readonly refused: number
  /** True if the send has ended and rows got no message because it was stopped. */
  readonly isStopped: boolean
  /**
   * Time at which the promotion of a standby stopped the send. The send may lack messages that the lost server accepted
   * (P-5).
   */
  readonly failedOver: Instant | undefined
  /** Credits charged for the accepted messages, before refunds. */
  readonly cost: Credits
}

/** Claimed call with its rows. */
export interface BulkCall {
  readonly send: BulkSend
  /** Number of the call within its send, from 0. */
  readonly call: number
  readonly rows: readonly BulkRow[]
  /** Seconds since the send was started, by the store's clock. */
  readonly ageSeconds: number
}

export interface EndedCall {
  readonly accepted: readonly IdRun[]
  readonly messages: number
  readonly cost: Credits
  /** Rows that got no message, each with its reason. Other rows are deleted. */
  readonly refusedRows: readonly BulkRow[]
}

/** Number of messages in one state. */
export interface OutcomeCount {
  /** Undefined while the messages wait: scheduled, queued or claimed. */
  readonly code: OutcomeCode | undefined
  readonly messages: number
}

/**
 * Sends whose recipients wait in the store until they are accepted as messages. They are accepted in calls, each with
 * an idempotency key (ruling 1.24). If the process of a call dies, another one claims the call again, and the key
 * prevents a second send.
 */
export interface BulkSends {
  /** Stores a draft with all its calls, atomically. */
  add(by: AccountId, send: NewBulkSend, calls: readonly (readonly BulkRow[])[]): Promise<BulkSendId>
  /** Returns undefined for an id that is unknown or belongs to another account (P-10). */
  find(by: AccountId, id: BulkSendId): Promise<BulkSend | undefined>
  /** Lists sends without drafts, latest first. With `before`, only lower ids. */
  list(by: AccountId, page: { readonly before?: BulkSendId | undefined; limit: number }): Promise<readonly BulkSend[]>
  /** Lists drafts, latest first. With `before`, only lower ids. */
  listDrafts(
    by: AccountId,
    page: { readonly before?: BulkSendId | undefined; readonly limit: number },
  ): Promise<readonly BulkSend[]>
  /** Deletes a draft with its rows. Returns false if the account has no such draft. */
  discard(by: AccountId, id: BulkSendId): Promise<boolean>
  /**
   * Replaces the contents of a draft and, if `calls` is defined, all its rows, atomically. Increases the revision.
   * Returns false if the account has no such draft.
   */
  change(by: AccountId, id: BulkSendId, draft: BulkDraft, calls?: readonly (readonly BulkRow[])[]): Promise<boolean>
  /**
   * Returns the stored rows of a call: all rows until the call ends, then only the rows without a message. Empty if the
   * account has no such call.
   */
  rows(by: AccountId, id: BulkSendId, call: number): Promise<readonly BulkRow[]>
  /** Returns the ids of the messages of a call. Empty if there are none or the call has not ended. */
  accepted(by: AccountId, id: BulkSendId, call: number): Promise<readonly IdRun[]>
  /** Counts the messages of a send by outcome, waiting ones last. Empty if it has none. */
  outcomes(by: AccountId, id: BulkSendId): Promise<readonly OutcomeCount[]>
  /**
   * Returns the credits returned so far for messages of these sends. Omits sends without a refund and those of other
   * accounts.
   */
  returned(by: AccountId, ids: readonly BulkSendId[]): Promise<ReadonlyMap<BulkSendId, Credits>>
  /**
   * Starts a draft if it still has this revision. Returns false if the account has no such draft. Of concurrent callers
   * only one receives true.
   */
  start(by: AccountId, id: BulkSendId, revision: number): Promise<boolean>
  /** Stops a send: no further call is started. Returns false if it is not running. */
  stop(by: AccountId, id: BulkSendId): Promise<boolean>
  /**
   * Claims the first unfinished call of the send that has waited longest, or of the send `only` if it is due. Other
   * callers can claim the send again after `seconds`.
   */
  take(seconds: number, only?: BulkSendId): Promise<BulkCall | undefined>
  /** Makes the send claimable again after `seconds`, also for the same caller. */
  postpone(id: BulkSendId, seconds: number): Promise<void>
  /**
   * Ends a call, and the send with its last call. The first stored result wins. The send is claimable again at once.
   */
  end(id: BulkSendId, call: number, ended: EndedCall): Promise<void>
}
