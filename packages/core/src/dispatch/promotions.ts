import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { BulkSendId } from '../bulk-sends/bulk-sends.ts'
import type { Instant } from '../time/instant.ts'

/*
 * What the lost primary did in its last moments is missing on an asynchronous standby. A message that waits there may
 * have been submitted already. After the promotion of such a standby everything that waited or was claimed is in doubt:
 * nobody submits it until an operator decides (P-5). Messages accepted after the promotion are not in doubt. A send in
 * bulk that was running is stopped, because the lost server may have accepted more of its rows than arrived.
 */

export type PromotionId = Brand<number, 'PromotionId'>

/** Send: what is in doubt is submitted, though some of it may go twice. End: it becomes SENT 106. */
export type DoubtDecision = 'send' | 'end'

/** The promotion of a standby that may lack what the lost primary had done. */
export interface Promotion {
  readonly id: PromotionId
  /** When a process noticed the promotion, before anything was accepted on the new primary. */
  readonly noticed: Instant
  readonly fromTimeline: number
  readonly timeline: number
  /** The last commit of the lost primary that arrived, by its clock; undefined: not known. */
  readonly lastChange: Instant | undefined
  /** Position of the log (LSN) up to which the lost primary's log arrived; undefined: not known. */
  readonly lastPosition: string | undefined
  /** Number of messages that were in doubt at first. */
  readonly messages: number
  /** Number of messages that are in doubt now. */
  readonly inDoubt: number
  /** When the first and the last of the messages in doubt were due; undefined: none is in doubt any more. */
  readonly due: { readonly first: Instant; readonly last: Instant } | undefined
  readonly decision: { readonly what: DoubtDecision; readonly by: string; readonly at: Instant } | undefined
}

/** A send in bulk that a promotion stopped. */
export interface FailedOverSend {
  readonly id: BulkSendId
  readonly account: AccountId
  readonly failedOver: Instant
  /** Number of rows that got no message here, and may have got one by the lost server. */
  readonly rows: number
}

/** Days for which sends that a promotion stopped are listed. */
export const failedOverSendDays = 7

/**
 * Seconds after the promotion within which a message that was to be due counts as due, because the clock of the lost
 * server may have been ahead.
 */
export const clockMarginSeconds = 60

/** Messages in doubt since the promotion of a standby. Every call is atomic. */
export interface Promotions {
  /** Promotions with messages in doubt, the oldest first. */
  open(): Promise<readonly Promotion[]>
  /** Returns at most 1000 sends in bulk that promotions of the last 7 days stopped, the latest first. */
  failedOverSends(): Promise<readonly FailedOverSend[]>
  /**
   * Records the decision about everything that is in doubt. Decided: it is so now, or was before. Decided otherwise:
   * the other decision was made before, and nothing changes.
   */
  decide(decision: DoubtDecision, by: string): Promise<'decided' | 'nothing-in-doubt' | 'decided-otherwise'>
  /**
   * Carries out the decision for about `messagesMax` messages, at least one range of them. Returns how many left the
   * doubt; 0: nothing is in doubt that an operator has decided about.
   */
  carryOut(messagesMax: number): Promise<number>
  /**
   * Takes what late receipts prove: a message in doubt becomes SENT 106 if a receipt that fits no message names its
   * number, came after the promotion, and is at least `ageSeconds` old. `DeliveryReceipts.adopt` then gives the message
   * its receipts, as any other of unknown outcome, and so it does with messages that ended in doubt. Returns how many
   * messages left the doubt.
   */
  takeProofs(ageSeconds: number): Promise<number>
  /**
   * Ends messages in doubt whose validity is over as SENT 106: no refund, because they may have been sent. Returns how
   * many.
   */
  expire(validitySeconds: number, messagesMax: number): Promise<number>
}

/** The primary as the database remembers it. The memory is replicated as everything else. */
export interface RememberedPrimary {
  readonly timeline: number
  /** Whether commits waited for a synchronous standby. */
  readonly synchronous: boolean
  /** When a process looked last, in microseconds since 1970 by the primary's clock. */
  readonly lookedAt: number
  /** The look is younger than `trustedLookSeconds`. */
  readonly isRecent: boolean
}

/** The primary as a process saw it itself. `lookedAt`: the last look that it wrote and had confirmed; 0: none. */
export type WitnessedPrimary = Pick<RememberedPrimary, 'timeline' | 'synchronous' | 'lookedAt'>

/**
 * Maximum age in seconds of a look that is trusted without a process that was there. A synchronous standby that was cut
 * off does not learn that the primary went on without it; a long gap is no proof of anything.
 */
export const trustedLookSeconds = 120

/**
 * Whether a promoted server certainly has everything that was acknowledged on the lost primary. `remembered` is what
 * the promoted server has in its tables, `witness` what the process that asks saw of the lost primary.
 */
export function hasEverything(remembered: RememberedPrimary, witness: WitnessedPrimary | undefined): boolean {
  if (!remembered.synchronous) return false
  if (witness === undefined) return remembered.isRecent
  const isSame = witness.timeline === remembered.timeline
  return isSame && witness.synchronous && witness.lookedAt <= remembered.lookedAt
}
