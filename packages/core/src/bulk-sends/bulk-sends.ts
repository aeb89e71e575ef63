import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { Credits } from '../credits/credits.ts'
import type { Instant } from '../time/instant.ts'
import type { MessageId } from '../messages/messages.ts'
import type { Refusal } from '../messages/refusal.ts'
import type { OutcomeCode } from '../messages/status-code.ts'
import type { UnreadNumber } from '../messages/written-number.ts'

export type BulkSendId = Brand<number, 'BulkSendId'>

export const bulkSendLimits = {
  /** Rows of a send, repetitions among them. */
  rowsMax: 100_000,
  /** Rows of one call. */
  callRowsMax: 1000,
  /** A draft that was not sent is forgotten after so many days. */
  draftDays: 1,
  /** Maximum number of drafts of an account; another one is refused, and none is dropped for it. */
  draftsMax: 100,
} as const

/** Why a row got no message: stopped: nothing was accepted of its call before the send was stopped. */
export type RowRefusal =
  | Refusal
  | UnreadNumber
  | 'repeated'
  /** A field of the text is blank in this row. */
  | 'missing-value'
  /** Nobody has chosen yet which column of the list has the numbers. */
  | 'column-not-chosen'
  | 'invalid-sender'
  | 'stopped'
  /** A promotion stopped the send, and the lost database server may have accepted this row (P-5). */
  | 'failed-over'
  /** Nobody can tell any more whether it was accepted: the answer to its call is older than they are kept. */
  | 'unknown'

/** One recipient as a file has it. */
export interface BulkRow {
  /** Its line in the list, from 1. */
  readonly row: number
  /** The digits to send to, or the number as the list has it if it cannot be read. */
  readonly number: string
  /** True if digits of the list are not part of `number`: the person must see both before sending. */
  readonly changed?: true | undefined
  /** In the order of the columns of its send. */
  readonly fields: readonly string[]
  /** Left out: it is to be sent, or was. */
  readonly refused?: RowRefusal | undefined
}

/** Consecutive ids. */
export type IdRun = readonly [first: MessageId, last: MessageId]

/** How a send stands; running and stopping ones are worked on. */
export type BulkSendState = 'draft' | 'running' | 'stopping' | 'ended'

export interface NewBulkSend {
  /** Names of fields of the text: `{name}`. */
  readonly columns: readonly string[]
  readonly text: string
  /** Undefined: at once. */
  readonly scheduled: Instant | undefined
  /** What the idempotency keys of its calls begin with; nobody else knows it. */
  readonly key: string
}

export interface BulkSend extends NewBulkSend {
  readonly id: BulkSendId
  readonly account: AccountId
  readonly state: BulkSendState
  readonly created: Instant
  readonly started: Instant | undefined
  /** Rows that are no repetitions. */
  readonly recipients: number
  readonly repeated: number
  readonly calls: number
  /** Of the calls that have ended. */
  readonly callsEnded: number
  readonly accepted: number
  readonly refused: number
  /** True if the send has ended, and rows got no message because it was stopped, by whomever. */
  readonly isStopped: boolean
  /** When the promotion of a standby stopped the send, which may lack what the lost server accepted (P-5). */
  readonly failedOver: Instant | undefined
  /** Credits charged for the accepted messages, whatever was returned afterwards. */
  readonly cost: Credits
}

/** A call that was taken up, with its rows. */
export interface BulkCall {
  readonly send: BulkSend
  /** From 0. */
  readonly call: number
  readonly rows: readonly BulkRow[]
  /** Since the send was started, by the store's clock. */
  readonly ageSeconds: number
}

export interface EndedCall {
  readonly accepted: readonly IdRun[]
  readonly messages: number
  readonly cost: Credits
  /** What got no message, each with its reason; the other rows are forgotten. */
  readonly left: readonly BulkRow[]
}

/** How many messages have come to one state. */
export interface OutcomeCount {
  /** Undefined: they wait, be they scheduled, queued or claimed. */
  readonly code: OutcomeCode | undefined
  readonly messages: number
}

/**
 * Sends whose recipients wait in the store until they are accepted as messages, in calls with an idempotency key each
 * (ruling 1.24). Whoever takes up a call may die: it is taken up again, and its key keeps it from being sent twice.
 */
export interface BulkSends {
  /** Stores a draft with all its calls, or nothing. */
  add(by: AccountId, send: NewBulkSend, calls: readonly (readonly BulkRow[])[]): Promise<BulkSendId>
  /** Undefined: unknown, or another account's (P-10). */
  find(by: AccountId, id: BulkSendId): Promise<BulkSend | undefined>
  /** The latest first, no drafts; `before`: only lower ids. */
  list(by: AccountId, page: { readonly before?: BulkSendId | undefined; limit: number }): Promise<readonly BulkSend[]>
  /** Returns drafts, the latest first; `before`: only lower ids. */
  listDrafts(
    by: AccountId,
    page: { readonly before?: BulkSendId | undefined; readonly limit: number },
  ): Promise<readonly BulkSend[]>
  /** Deletes a draft with its rows; false if it is not a draft of the account. */
  discard(by: AccountId, id: BulkSendId): Promise<boolean>
  /** Changes a draft; false: it is none, or not there. */
  change(by: AccountId, id: BulkSendId, change: Pick<NewBulkSend, 'text' | 'scheduled'>): Promise<boolean>
  /** What is stored of a call: all rows, or those that got no message. Empty: there is no such call of the account. */
  rows(by: AccountId, id: BulkSendId, call: number): Promise<readonly BulkRow[]>
  /** The ids that a call was given. Empty: none, or it has not ended. */
  accepted(by: AccountId, id: BulkSendId, call: number): Promise<readonly IdRun[]>
  /** By code, those that wait last: what became of the messages of a send so far. Empty: it has none. */
  outcomes(by: AccountId, id: BulkSendId): Promise<readonly OutcomeCount[]>
  /** Returns the credits returned so far for messages of these sends; omits sends without a refund or of others. */
  returned(by: AccountId, ids: readonly BulkSendId[]): Promise<ReadonlyMap<BulkSendId, Credits>>
  /** A draft begins to be sent; false: it is none, or not there. Of many callers one is told true. */
  start(by: AccountId, id: BulkSendId): Promise<boolean>
  /** No further call is begun; false: it is not running. */
  stop(by: AccountId, id: BulkSendId): Promise<boolean>
  /**
   * Takes up the first call without an end, of the send that has waited longest, or of `only` if it is due. Other
   * callers get this send after `seconds`.
   */
  take(seconds: number, only?: BulkSendId): Promise<BulkCall | undefined>
  /** Others may take up the send, and its caller too, after `seconds`. */
  postpone(id: BulkSendId, seconds: number): Promise<void>
  /** Ends a call, and with its last call the send. What was stored first counts. The send may be taken up at once. */
  end(id: BulkSendId, call: number, ended: EndedCall): Promise<void>
}
