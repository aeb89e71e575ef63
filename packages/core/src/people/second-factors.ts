import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'
import type { SealedSecret } from '../webhooks/secret-box.ts'
import type { AccountId, KeyHash } from '../accounts/account.ts'

/** Who has a second factor, as `factorOwner` writes it: whoever signs in with one name and password. */
export type FactorOwner = Brand<string, 'FactorOwner'>

export const factorOwner = (kind: 'account' | 'user' | 'operator', id: number): FactorOwner =>
  `${kind} ${id}` as FactorOwner

/** A secret that an authenticator shares with the gateway (TOTP, RFC 6238), and what helps when it is lost. */
export interface SecondFactor {
  readonly secret: SealedSecret
  readonly since: Instant
  /** So many recovery codes are left. */
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
  /** `step`: that of the code it was confirmed with, which counts as used. False: the owner has one already. */
  set(of: FactorOwner, secret: SealedSecret, step: number, recoveryCodes: readonly KeyHash[]): Promise<boolean>
  /** Uses a time step, which has to be later than each that was used before. Of many at the same time one is true. */
  useStep(of: FactorOwner, step: number): Promise<boolean>
  /** Uses a recovery code up. Of many at the same time one is true. */
  useRecoveryCode(of: FactorOwner, hash: KeyHash): Promise<boolean>
  /** False: the owner has no second factor. */
  replaceRecoveryCodes(of: FactorOwner, hashes: readonly KeyHash[]): Promise<boolean>
  /** False: the owner has none. */
  remove(of: FactorOwner): Promise<boolean>
  /** Whether who signs in with an account has to have one. False: no such account. */
  setRequired(account: AccountId, isRequired: boolean): Promise<boolean>
  isRequired(account: AccountId): Promise<boolean>
  /** That which was set last, of those that there are. */
  lastSecret(): Promise<SealedSecret | undefined>
  /** Replaces those that `change` changes, all or none, and returns how many these were. */
  resealSecrets(change: (sealed: SealedSecret) => SealedSecret): Promise<number>
}
