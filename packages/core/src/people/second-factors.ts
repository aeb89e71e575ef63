import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'
import type { SealedSecret } from '../webhooks/secret-box.ts'
import type { AccountId, KeyHash } from '../accounts/account.ts'

/**
 * Owner of a second factor, as `factorOwner` formats it. An owner is an account with its own password, a user, or an
 * operator.
 */
export type FactorOwner = Brand<string, 'FactorOwner'>

export const factorOwner = (kind: 'account' | 'user' | 'operator', id: number): FactorOwner =>
  `${kind} ${id}` as FactorOwner

/** Secret shared with an authenticator (TOTP, RFC 6238), with recovery codes for its loss. */
export interface SecondFactor {
  readonly secret: SealedSecret
  readonly since: Instant
  /** Number of unused recovery codes. */
  readonly recoveryCodes: number
}

/** Second factor of an account, and whether the people who sign in for it must have one. */
export interface AccountFactor {
  readonly factor: SecondFactor | undefined
  readonly isRequired: boolean
}

/** Second factors of people who sign in. */
export interface SecondFactors {
  find(of: FactorOwner): Promise<SecondFactor | undefined>
  /**
   * Stores a second factor. `step` is the time step of the code that confirmed it; it counts as used. Returns false if
   * the owner has one already.
   */
  set(of: FactorOwner, secret: SealedSecret, step: number, recoveryCodes: readonly KeyHash[]): Promise<boolean>
  /**
   * Records the use of a time step. A time step can be used only if it is later than all steps used before. Of
   * concurrent callers only one receives true.
   */
  useStep(of: FactorOwner, step: number): Promise<boolean>
  /** Records the use of a recovery code. Of concurrent callers only one receives true. */
  useRecoveryCode(of: FactorOwner, hash: KeyHash): Promise<boolean>
  /** Returns false if the owner has no second factor. */
  replaceRecoveryCodes(of: FactorOwner, hashes: readonly KeyHash[]): Promise<boolean>
  /** Returns false if the owner has no second factor. */
  remove(of: FactorOwner): Promise<boolean>
  /**
   * Sets whether everybody who signs in for an account must have a second factor. Returns false if the account does not
   * exist.
   */
  setRequired(account: AccountId, isRequired: boolean): Promise<boolean>
  isRequired(account: AccountId): Promise<boolean>
  /** Returns the most recently stored secret that still exists. */
  lastSecret(): Promise<SealedSecret | undefined>
  /**
   * Replaces, in one atomic step, the secrets for which `change` returns another value. Returns the number of these
   * secrets.
   */
  resealSecrets(change: (sealed: SealedSecret) => SealedSecret): Promise<number>
}
