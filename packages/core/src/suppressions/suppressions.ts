import type { AccountId } from '../accounts/account.ts'
import type { InboundMessageId } from '../inbox/inbox.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { Msisdn } from '../messages/msisdn.ts'
import type { Instant } from '../time/instant.ts'

/**
 * Reason why a number gets no messages: its owner opted out, or it is on the operator's do-not-contact list or
 * blacklist.
 */
export type Suppression = 'opt-out' | 'do-not-contact' | 'blacklist'

/**
 * Accounts to which an entry applies: an opt-out to one account (ruling 1.21), the operator's two lists to everybody.
 */
export type SuppressionScope = AccountId | 'everybody'

export interface SuppressionKey {
  readonly scope: SuppressionScope
  readonly number: Msisdn
  readonly kind: Suppression
}

export interface SuppressionEntry extends SuppressionKey {
  readonly since: Instant
}

/** Entry of a list whose entries share scope and kind. */
export interface ListedSuppression {
  readonly number: Msisdn
  readonly since: Instant
  /** Text with which a person opted out. Missing for an entry of the account holder. */
  readonly text?: string | undefined
}

/** Number that an account may not send to, at the request of its owner or of the account holder. */
export interface OptOut {
  readonly number: Msisdn
  readonly since: Instant
  /**
   * Message with which the person opted out, or the carrier's refusal of a message (`carrierOptOutText`). Undefined if
   * the account holder added the entry.
   */
  readonly reply: OptOutReply | undefined
}

/** Text that lists show for an entry of the account holder (ruling 1.23). */
export const manualOptOutText = '* MANUALLY ADDED BY USER *'

/**
 * Text of the entry of a number that has opted out at a carrier (ruling 6.2). The message is in `OptOutReply.answers`.
 */
export const carrierOptOutText = '* OPTED OUT AT CARRIER *'

export interface OptOutReply {
  /** Inbound message. Undefined if the entry was imported with its text, or comes from a carrier. */
  readonly id: InboundMessageId | undefined
  readonly text: string
  readonly answers: MessageId | undefined
}

/** Opt-out in an imported list. */
export interface ImportedOptOut {
  readonly number: Msisdn
  /** Time of the opt-out. Undefined means now. */
  readonly since: Instant | undefined
  /** Text of the person. Undefined, blank or `manualOptOutText` makes it an entry of the account holder. */
  readonly text: string | undefined
}

/** Numbers that must not receive messages. */
export interface Suppressions {
  /** Returns the suppressions of `numbers` for messages of this account. A number without any is not in the map. */
  matching(by: AccountId, numbers: readonly Msisdn[]): Promise<ReadonlyMap<Msisdn, ReadonlySet<Suppression>>>
  /** Adds an entry. An existing entry keeps its time. */
  add(entry: SuppressionEntry): Promise<'added' | 'already'>
  /**
   * Adds the entries whose numbers are not listed yet and returns how many it added, all of them or none. Of a repeated
   * number the first entry counts. Concurrent calls may add the same numbers in any order.
   */
  addAll(scope: SuppressionScope, kind: Suppression, entries: readonly ListedSuppression[]): Promise<number>
  /** Removes an entry. Returns false if there was none. */
  remove(key: SuppressionKey): Promise<boolean>
  /** Lists entries by number as text. The store reads in pages, so that a long list needs little memory. */
  list(scope: SuppressionScope, kind: Suppression): AsyncIterable<SuppressionEntry>
  /**
   * Lists the opt-outs of an account by number as text, each with its inbound message, in non-empty pages of some
   * hundred.
   */
  optOuts(by: AccountId): AsyncIterable<readonly OptOut[]>
}
