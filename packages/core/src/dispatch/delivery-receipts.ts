import type { CarrierId } from './carrier-id.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { Instant } from '../time/instant.ts'
import type { DeliveryReceipt } from './delivery-receipt.ts'
import type { UnknownMessage, WantedUnknown } from './unknown-message.ts'
import type { StoredUnreadReceipt, UnreadReceipt, UnreadReceiptFilter, UnreadReceiptId } from './unread-receipt.ts'

/**
 * A stored receipt that matches no message. After a restore from a backup such receipts belong to messages sent after
 * the backup.
 */
export interface UnmatchedReceipt extends Pick<DeliveryReceipt, 'carrier' | 'reference' | 'code' | 'number'> {
  readonly at: Instant
  /** Messages to the same number that wait to be sent. One of them may already have been sent. */
  readonly waiting: readonly MessageId[]
}

/**
 * Reports of carriers about submitted messages: receipts, which are matched to messages; deliveries that could not be
 * parsed (P-21); and messages of unknown outcome about which their carrier can be asked.
 */
export interface DeliveryReceipts {
  /**
   * Moves each message from a state that may still change to the state in its receipt; a final state never changes
   * again (P-7). A message that ends as opted out (212) is refunded, and an opt-out of its account is added, as by
   * `ClaimedBatches.record` for a refusal with `optOut` (ruling 6.2). If a call has several receipts of one message,
   * only one of them counts (`countingReceipt`, with guesses after all others), and the rest are not stored. A receipt
   * whose message is not known (yet) is stored for `match` and `adopt`, unless it is a guess. A receipt that names a
   * number is never applied to a message to another number. Resolves, once nothing can be lost by a crash, to the
   * receipts that matched no message.
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
  /**
   * Stores deliveries that could not be parsed, so that operators can list them, and other settings or another release
   * can parse them later. After the promise has resolved, they survive a crash. If more than
   * `unreadReceiptBounds.countMax` deliveries are stored, the oldest are dropped.
   */
  storeUnread(receipts: readonly UnreadReceipt[]): Promise<void>
  /** Lists at most `countMax` unread deliveries after this one, the oldest first; undefined: from the beginning. */
  listUnread(
    after: UnreadReceiptId | undefined,
    countMax: number,
    filter?: UnreadReceiptFilter,
  ): Promise<readonly StoredUnreadReceipt[]>
  /** Deletes unread deliveries that have been parsed. */
  dropUnread(ids: readonly UnreadReceiptId[]): Promise<void>
  /**
   * Records that receipts with these references reported an unknown outcome. References that are stored already do not
   * change. After the promise has resolved, the records survive a crash.
   */
  storeUnknown(carrier: CarrierId, references: readonly string[]): Promise<void>
  /** Returns messages that are still unknown, the oldest first. Each message is returned only once, to one caller. */
  takeUnknown(carrier: CarrierId, selection: WantedUnknown): Promise<readonly UnknownMessage[]>
}
