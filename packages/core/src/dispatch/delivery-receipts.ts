import type { CarrierId } from './carrier-id.ts'
import type { MessageId } from '../messages/messages.ts'
import type { Instant } from '../time/instant.ts'
import type { DeliveryReceipt } from './delivery-receipt.ts'

/**
 * A stored receipt that matches no message. After a restore from a backup such receipts belong to messages sent after
 * the backup.
 */
export interface UnmatchedReceipt extends Pick<DeliveryReceipt, 'carrier' | 'reference' | 'code' | 'number'> {
  readonly at: Instant
  /** Messages to the same number that wait to be sent. One of them may already have been sent. */
  readonly waiting: readonly MessageId[]
}

/** Store of delivery receipts, which matches them to messages. */
export interface DeliveryReceipts {
  /**
   * Moves each message from a state that may still change to the state in its receipt; a final state never changes
   * again (P-7). If a call has several receipts of one message, only one of them counts (`countingReceipt`, with
   * guesses after all others), and the rest are not stored. A receipt whose message is not known (yet) is stored for
   * `match` and `adopt`, unless it is a guess. A receipt that names a number is never applied to a message to another
   * number. Resolves, once nothing can be lost by a crash, to the receipts that matched no message.
   */
  apply(receipts: readonly DeliveryReceipt[]): Promise<readonly DeliveryReceipt[]>
  /**
   * Tries again to match at most `receiptsMax` stored receipts that are due, together with all other receipts of the
   * same messages. Before that, a message of unknown outcome without a reference gets the reference of receipts that
   * have its own id, its carrier and, if they name one, its number. If the receipts report on parts, there must be one
   * for each part. Returns the number of receipts whose message was found.
   */
  match(receiptsMax: number): Promise<number>
  /**
   * Finds a message of unknown outcome for each stored receipt without an own id that is at least `ageSeconds` old, by
   * carrier and number. If exactly one message fits exactly one receipt, gives the message the carrier's reference from
   * the receipt. `match` then applies the receipt. Returns the number of such messages.
   */
  adopt(ageSeconds: number): Promise<number>
  /** Returns at most `countMax` stored receipts, the oldest first, each once however often it arrived. */
  unmatched(countMax: number): Promise<readonly UnmatchedReceipt[]>
  /**
   * Returns how this carrier writes ids in receipts, as a word that its adapter defines; undefined if this has not been
   * discovered yet.
   */
  learnedForm(carrier: CarrierId): Promise<string | undefined>
  /** Stores the discovered form for all processes and across restarts. */
  keepLearnedForm(carrier: CarrierId, form: string): Promise<void>
}
