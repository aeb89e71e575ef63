import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'
import type { KeyHash } from './api-key.ts'

/** A salted, slow hash of a password together with its parameters; only the adapter that made it can read it. */
export type PasswordHash = Brand<string, 'PasswordHash'>

export interface PasswordAttempt {
  readonly login: string
  readonly password: string
  /** The hash to check against; undefined if there is no such user, which must take as long as a wrong password. */
  readonly stored: PasswordHash | undefined
  /** Where the attempt comes from: an IPv4 /24 or an IPv6 /64 (ruling 1.26). */
  readonly network: string
  readonly now: Instant
}

/** More than the allowed failures of one user from one network (ruling 1.26). */
export interface TooManyFailures {
  readonly retryAfterSeconds: number
}

/** Random secrets and their hashes. */
export interface Secrets {
  /** A new API key with 256 bits of chance, in characters that need no encoding in a URL, a header or XML. */
  newApiKey(): string
  /** A new password of at least 96 bits, in characters as of newApiKey. */
  newPassword(): string
  hashKey(key: string): KeyHash
  hashPassword(password: string): Promise<PasswordHash>
  /**
   * Whether the password is the stored one. An unknown user takes the same time as a wrong password. Failures are
   * counted by user (letter case does not matter) and network: beyond ten in a minute the answer is TooManyFailures and nothing is hashed. A pair
   * that was right lately is right at once, also then; equal attempts at the same time count as one. A limited number of
   * hashes run at a time, the others wait (ruling 1.26). Overloaded: too many wait already; nothing was hashed or counted.
   */
  checkPassword(attempt: PasswordAttempt): Promise<'right' | 'wrong' | 'overloaded' | TooManyFailures>
}
