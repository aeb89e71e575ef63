import type { AccountId } from '../account/account.ts'
import type { Msisdn } from '../message/msisdn.ts'
import type { Instant } from '../time/instant.ts'

/** Why a number is not to be written to: because its owner opted out, by a do-not-contact list, or by the operator's blacklist. */
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
