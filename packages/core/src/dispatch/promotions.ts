import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { BulkSendId } from '../bulk-sends/bulk-sends.ts'
import type { Instant } from '../time/instant.ts'

/*
 * An asynchronous standby lacks the last commits of the lost primary, so a message that waits on the standby may
 * already have been submitted. After the promotion of such a standby all waiting and claimed messages are in doubt: no
 * dispatcher submits them until an operator decides (P-5). Messages accepted after the promotion are not in doubt. A
 * bulk send that was running is stopped, because the lost server may have accepted more of its rows than were
 * replicated.
 */

export type PromotionId = Brand<number, 'PromotionId'>

/**
 * An operator's decision. Send: messages in doubt are submitted, although some of them may be sent twice. End: they
 * become SENT 106.
 */
export type DoubtDecision = 'send' | 'end'

/** Promotion of a standby that may lack commits of the lost primary. */
export interface Promotion {
  readonly id: PromotionId
  /** When a process noticed the promotion, before anything was accepted on the new primary. */
  readonly noticed: Instant
  readonly fromTimeline: number
  readonly timeline: number
  /** Time of the last replicated commit, by the lost primary's clock; undefined if unknown. */
  readonly lastChange: Instant | undefined
  /** Log position (LSN) up to which the standby received the lost primary's log; undefined if unknown. */
  readonly lastPosition: string | undefined
  /** Number of messages that were in doubt at first. */
  readonly messages: number
  /** Number of messages that are in doubt now. */
  readonly inDoubt: number
  /** Due times of the first and last message in doubt; undefined if no message is in doubt any more. */
  readonly due: { readonly first: Instant; readonly last: Instant } | undefined
  readonly decision: { readonly choice: DoubtDecision; readonly by: string; readonly at: Instant } | undefined
}

/** A bulk send that a promotion stopped. */
export interface FailedOverSend {
  readonly id: BulkSendId
  readonly account: AccountId
  readonly failedOver: Instant
  /** Number of rows without a message here, which the lost server may have accepted. */
  readonly rows: number
}

/** Days for which sends that a promotion stopped are listed. */
export const failedOverSendDays = 7

/**
 * Seconds after the promotion within which a scheduled message counts as due, because the clock of the lost server may
 * have been ahead.
 */
export const clockMarginSeconds = 60

/** Store of messages in doubt since the promotion of a standby. Every call is atomic. */
export interface Promotions {
  /** Returns promotions with messages in doubt, the oldest first. */
  open(): Promise<readonly Promotion[]>
  /** Returns at most 1000 bulk sends that promotions of the last 7 days stopped, the latest first. */
  failedOverSends(): Promise<readonly FailedOverSend[]>
  /**
   * Records the decision about all messages in doubt. Decided: this decision applies, whether this call or an earlier
   * one made it. Decided otherwise: the opposite decision was made before, and nothing changes.
   */
  decide(decision: DoubtDecision, by: string): Promise<'decided' | 'nothing-in-doubt' | 'decided-otherwise'>
  /**
   * Carries out the decision for about `messagesMax` messages, at least one range of them. Returns how many messages
   * are no longer in doubt; 0 if no message in doubt has been decided about.
   */
  carryOut(messagesMax: number): Promise<number>
  /**
   * Applies the proof of late receipts: a message in doubt becomes SENT 106 if a receipt that matches no message names
   * its number, arrived after the promotion, and is at least `ageSeconds` old. `DeliveryReceipts.adopt` then assigns
   * receipts to it as to any message of unknown outcome, including messages that ended in doubt. Returns how many
   * messages are no longer in doubt.
   */
  takeProofs(ageSeconds: number): Promise<number>
  /**
   * Ends messages in doubt whose validity is over as SENT 106, without a refund because they may have been sent.
   * Returns how many.
   */
  expire(validitySeconds: number, messagesMax: number): Promise<number>
}

/** State of the primary as recorded in the database, and replicated with it. */
export interface RememberedPrimary {
  readonly timeline: number
  /** Whether commits waited for a synchronous standby. */
  readonly synchronous: boolean
  /** When a process last checked the primary, in microseconds since 1970 by the primary's clock. */
  readonly lookedAt: number
  /** True if that check is younger than `trustedLookSeconds`. */
  readonly isRecent: boolean
}

/**
 * State of the primary as this process saw it. `lookedAt` is its last check that was written and confirmed; 0 if there
 * was none.
 */
export type WitnessedPrimary = Pick<RememberedPrimary, 'timeline' | 'synchronous' | 'lookedAt'>

/**
 * Maximum age in seconds of a recorded check that is trusted without a process that witnessed it. A synchronous standby
 * that was cut off does not learn that the primary went on without it, so an older check proves nothing.
 */
export const trustedLookSeconds = 120

/**
 * Returns true if a promoted server certainly has everything that the lost primary acknowledged. `remembered` is the
 * record on the promoted server, `witness` the state of the lost primary that the calling process saw.
 */
export function hasEverything(remembered: RememberedPrimary, witness: WitnessedPrimary | undefined): boolean {
  if (!remembered.synchronous) return false
  if (witness === undefined) return remembered.isRecent
  const isSame = witness.timeline === remembered.timeline
  return isSame && witness.synchronous && witness.lookedAt <= remembered.lookedAt
}
