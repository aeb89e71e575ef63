import type { CarrierId } from './carrier-id.ts'
import type { MessageId } from '../messages/messages.ts'
import type { Instant } from '../time/instant.ts'
import type { DeliveryReceipt } from './delivery-receipt.ts'

/** A kept receipt that fits no message. After a restore it is of one that was sent since the backup. */
export interface UnmatchedReceipt extends Pick<DeliveryReceipt, 'carrier' | 'reference' | 'code' | 'number'> {
  readonly at: Instant
  /** Messages to its number that wait to be sent: one of them may have been. */
  readonly waiting: readonly MessageId[]
}

/** Delivery receipts find their messages. */
export interface DeliveryReceipts {
  /**
   * Moves each message from a state that may still change to what its receipt says; a final state never changes again
   * (P-7). Of several receipts of one message in a call one counts (`countingReceipt`), guesses after all others; the
   * others are not kept either. A receipt whose message is not known (yet) is kept for `match` and `adopt`, unless it
   * is a guess. One that tells a number is never that of a message to another number. Once it has resolved, to those of
   * the receipts that found no message, nothing is lost by a crash.
   */
  apply(receipts: readonly DeliveryReceipt[]): Promise<readonly DeliveryReceipt[]>
  /**
   * Tries again to find the messages of at most `receiptsMax` kept receipts that are due, and of all others of these
   * messages; returns how many it found.
   */
  match(receiptsMax: number): Promise<number>
  /**
   * Gives a message of unknown outcome the carrier's reference of a kept receipt, at least `ageSeconds` old, if by
   * carrier and number exactly one of each fits the other; returns how many. `match` then applies the receipt.
   */
  adopt(ageSeconds: number): Promise<number>
  /** Those that are kept, each once however often it came, the oldest first, at most so many. */
  unmatched(countMax: number): Promise<readonly UnmatchedReceipt[]>
  /** How this carrier writes ids in receipts, in a word of its adapter; undefined: nobody has found out. */
  learnedForm(carrier: CarrierId): Promise<string | undefined>
  /** Keeps what was found out, for every process and after a restart. */
  keepLearnedForm(carrier: CarrierId, form: string): Promise<void>
}
