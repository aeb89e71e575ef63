import type { AccountId } from '../accounts/account.ts'
import type { InboundMessageId } from '../inbox/inbox.ts'
import type { MessageId } from '../messages/messages.ts'
import type { Msisdn } from '../messages/msisdn.ts'
import type { Instant } from '../time/instant.ts'

/**
 * Why a number is not to be written to: because its owner opted out, by a do-not-contact list, or by the operator's
 * blacklist.
 */
export type Suppression = 'opt-out' | 'do-not-contact' | 'blacklist'

/** Opt-outs are per account (ruling 1.21); the two lists of the operator hold for everybody. */
export type SuppressionScope = AccountId | 'everybody'

export interface SuppressionKey {
  readonly scope: SuppressionScope
  readonly number: Msisdn
  readonly kind: Suppression
}

export interface SuppressionEntry extends SuppressionKey {
  readonly since: Instant
}

/** One of many entries of the same scope and kind. */
export interface ListedSuppression {
  readonly number: Msisdn
  readonly since: Instant
  /** Of an opt-out: the text that asked for it, where it is not the account holder's own entry. */
  readonly text?: string | undefined
}

/** A number that an account may not write to, at the request of its owner or of the account holder. */
export interface OptOut {
  readonly number: Msisdn
  readonly since: Instant
  /** What asked for it; undefined: the account holder added it. */
  readonly reply: OptOutReply | undefined
}

/** What the lists show as the text of an entry that the account holder added (ruling 1.23). */
export const manualOptOutText = '* MANUALLY ADDED BY USER *'

export interface OptOutReply {
  /** The inbound message; undefined: it did not arrive here, the entry was imported with its text. */
  readonly id: InboundMessageId | undefined
  readonly text: string
  readonly answers: MessageId | undefined
}

/** As a list from elsewhere has it. */
export interface ImportedOptOut {
  readonly number: Msisdn
  /** Undefined: from now on. */
  readonly since: Instant | undefined
  /** With what it was asked for; undefined, blank or the text of manual entries: it is a manual entry. */
  readonly text: string | undefined
}

/** Numbers that must not be written to. */
export interface Suppressions {
  /**
   * What holds for messages of this account, its own entries and everybody's. A number without any is not in the map.
   */
  matching(by: AccountId, numbers: readonly Msisdn[]): Promise<ReadonlyMap<Msisdn, ReadonlySet<Suppression>>>
  /** An entry that is there already keeps its first time. */
  add(entry: SuppressionEntry): Promise<'added' | 'already'>
  /**
   * Adds all that are not there yet, of one number that comes twice the first, and returns how many these are; all or
   * none. Several may add the same numbers at once, in any order.
   */
  addAll(scope: SuppressionScope, kind: Suppression, entries: readonly ListedSuppression[]): Promise<number>
  /** False: there was no such entry. */
  remove(key: SuppressionKey): Promise<boolean>
  /** By number (as text), read in pieces: a long list does not grow the process. */
  list(scope: SuppressionScope, kind: Suppression): AsyncIterable<SuppressionEntry>
  /**
   * The opt-outs of an account, each with the inbound message that made it, in the same order; in pieces of some
   * hundred, of which none is empty.
   */
  optOuts(by: AccountId): AsyncIterable<readonly OptOut[]>
}
