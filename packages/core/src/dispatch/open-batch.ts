import type { ClaimedBatchId, ClaimedMessage, DispatcherId, Lane } from './claimed-batches.ts'
import type { QueueNumber } from '../routes/published-routes.ts'

/** A claimed batch in memory. Always next <= marked <= marking <= end; only `InFlight` moves these positions. */
export interface OpenBatch {
  readonly dispatcher: DispatcherId
  readonly id: ClaimedBatchId
  readonly lane: Lane
  readonly queue: QueueNumber
  /** Milliseconds by which the clock of this process was ahead of the store's when the batch was claimed. */
  readonly clockAhead: number
  /** Messages to submit, in order of submission. Messages that end without being submitted are not included. */
  readonly messages: readonly ClaimedMessage[]
  /** Position of the next message to submit. */
  readonly next: number
  /** Messages before this position are marked and may be submitted. */
  readonly marked: number
  /**
   * Position up to which a mark is being committed, or has failed and may have been committed; equal to `marked` if
   * there is no such mark.
   */
  readonly marking: number
  /**
   * End of the messages that may still be submitted: the length of `messages`, the position where a fenced batch
   * stopped submitting, or the first message given back.
   */
  readonly end: number
  /** Failed: to be committed again up to the same position. Attached: committed together with a record of outcomes. */
  readonly mark: 'none' | 'committing' | 'failed' | 'attached'
  /** Number of messages whose outcome is not committed. */
  readonly open: number
  /** Number of marked messages whose outcome is not committed. */
  readonly inDoubt: number
  /** True once its dispatcher was declared dead; no further message of the batch is submitted or marked. */
  readonly fenced: boolean
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** An open batch as `InFlight` changes it. */
export interface Batch extends Writable<OpenBatch> {
  /**
   * `upTo[n - 1]` is the position that the store has to mark so that the first n messages of `messages` are marked.
   * Undefined if this position is always n.
   */
  readonly upTo: readonly number[] | undefined
  /**
   * Number of messages that end without being submitted and whose end is not committed yet. No message of the batch is
   * marked while there are any.
   */
  unsettled: number
  /** Number of these that the claim marked. */
  unsettledInDoubt: number
}

/**
 * Thrown when an invariant is violated, which is a defect of this program. No further decision may rely on the affected
 * numbers.
 */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant'
}

export const broken = (violation: string, facts: Readonly<Record<string, number | boolean | string>>): never => {
  throw new BrokenInvariant(`${violation}: ${JSON.stringify(facts)}`)
}

/** Rejects a batch with inconsistent positions. The report contains only numbers, never a recipient or a text. */
export function checkBatch({ id, next, marked, marking, end, messages, open, inDoubt, fenced, mark }: OpenBatch): void {
  const isInOrder = 0 <= next && next <= marked && marked <= marking && marking <= end && end <= messages.length
  const isCounted = 0 <= inDoubt && inDoubt <= open
  const isFenceKept = !fenced || (end === next && mark === 'none')
  if (!isInOrder || !isCounted || !isFenceKept)
    broken('a claimed batch is inconsistent', { id, next, marked, marking, end, open, inDoubt, fenced, mark })
}

/** Returns the writable batch; only `InFlight` writes to it. */
export const own = (batch: OpenBatch): Batch => batch as Batch

export const mayMark = ({ unsettled, fenced, mark, marked, end }: Batch): boolean =>
  unsettled === 0 && !fenced && mark === 'none' && marked < end

/** Returns the position up to which `count` more messages are marked. */
export const target = ({ end, marked }: Batch, count: number): number => Math.min(end, marked + Math.max(0, count))

/** Returns the position to mark in the store. */
export const upToOf = ({ upTo, marking }: Batch): number => (upTo === undefined ? marking : (upTo[marking - 1] ?? 0))
