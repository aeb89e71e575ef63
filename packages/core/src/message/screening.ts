import type { Account } from '../account/account.ts'
import type { Suppression } from '../suppression/suppression.ts'
import type { Msisdn } from './msisdn.ts'

/** Why a recipient gets no message, in the order that wins (ruling 1.10). */
export type Refusal =
  | 'account-locked'
  | 'no-message'
  | 'too-long'
  | 'no-number'
  | 'invalid-number'
  | 'blacklisted'
  | 'trial-to-self'
  | 'opted-out'
  | 'do-not-contact'
  | 'insufficient-credits'

/** Why this account may not write to this number (rulings 1.10, 1.12); undefined: it may. */
export function screen(
  account: Account,
  to: Msisdn,
  suppressions: ReadonlySet<Suppression> | undefined,
): Refusal | undefined {
  if (suppressions?.has('blacklist')) return 'blacklisted'
  if (account.trial?.ownNumber === to) return 'trial-to-self'
  if (suppressions?.has('opt-out')) return 'opted-out'
  if (suppressions?.has('do-not-contact') && !account.transactional) return 'do-not-contact'
  return undefined
}
