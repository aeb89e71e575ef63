import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'
import type { Account, KeyHash } from '../accounts/account.ts'

/** A salted, slow hash of a password together with its parameters; only the adapter that made it can read it. */
export type PasswordHash = Brand<string, 'PasswordHash'>

/**
 * How often a password is checked, which decides how much its hash may cost. `requests`: the pair of an account, which
 * programs send with requests. `sign-in`: a user or an operator of the portal, checked when the person signs in.
 */
export type PasswordUse = 'requests' | 'sign-in'

/** Who has a user name. Without a password nobody logs in by it. */
export interface Login {
  readonly account: Account
  readonly password: PasswordHash | undefined
}

/** Of whom a password is: an account holder, or an operator. */
export interface PasswordOwner {
  readonly password: PasswordHash | undefined
}

export interface PasswordAttempt<Owner extends PasswordOwner = Login> {
  readonly login: string
  readonly password: string
  /** Where the attempt comes from: an IPv4 /24 or an IPv6 /64 (ruling 1.26). */
  readonly network: string
  /** The same in full, as text. */
  readonly address: string
  readonly now: Instant
  /**
   * Default `requests`. With `sign-in` every check costs as much as one of a hash for `sign-in`, whatever is stored, so
   * that the time does not show whether the name is that of an account, a user or nobody.
   */
  readonly use?: PasswordUse
  /**
   * Whether the login may be used from where the attempt comes. Where not, the right password is as wrong as any other.
   */
  readonly mayUse: (login: Owner) => boolean
  /** Who has the name, remembered for a few seconds. Asked for a pair that was right lately, and for no other. */
  readonly remembered: () => Promise<Owner | undefined>
  /** Who has the name, read afresh. Asked when the turn to hash has come: a refusal before that knows no names. */
  readonly stored: () => Promise<Owner | undefined>
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
  /** A token of 256 bits of chance, of a session or a link, in the same characters. */
  newToken(): string
  /** A secret of 160 bits for an authenticator, in base32 (RFC 4648). */
  newTotpSecret(): string
  /**
   * The time step of 30 seconds that this code of six digits is of (RFC 6238): that of `now`, the one before, or the
   * one after. Undefined: none of these.
   */
  totpStep(secret: string, code: string, now: Instant): number | undefined
  /** Of a key or a token. */
  hashKey(key: string): KeyHash
  /** `use` decides the cost of the hash; default `requests`. */
  hashPassword(password: string, use?: PasswordUse): Promise<PasswordHash>
  /** True if a stored hash costs less than a new one for `sign-in` would. */
  isWeakForSignIn(hash: PasswordHash): boolean
  /** Whether it is, in any letter case, one of the passwords that many people use, such as `password123`. */
  isCommonPassword(password: string): Promise<boolean>
  /**
   * Who logs in, or why nobody does. Failures are counted by user (letter case does not matter) and network: beyond ten
   * in a minute the answer is TooManyFailures (ruling 1.26). A pair that was right lately is right at once, also then;
   * each use renews that, and another stored password ends it. Equal attempts at the same time count as one. A limited
   * number of hashes run at a time; the others wait, and networks take turns. Overloaded: too many wait; nothing was
   * hashed or counted.
   *
   * No answer tells by its time whether the name exists: TooManyFailures and 'overloaded' come before it is looked up,
   * and 'wrong' after one look-up and one hash, also if nobody has it. Rejects if a look-up does: that is no failure.
   */
  checkPassword<Owner extends PasswordOwner>(
    attempt: PasswordAttempt<Owner>,
  ): Promise<Owner | 'wrong' | 'overloaded' | TooManyFailures>
}

export interface LoginFailureLimit {
  /** So many failures of one key are counted; at least 1. */
  readonly failuresMax: number
  /** Each counts for so long, by the store's clock. */
  readonly seconds: number
}

export interface CountedLoginFailure {
  /** False: so many were counted before that this one is one too many. It was not counted. */
  readonly isWithinLimit: boolean
  /** So long the next failure would be one too many; 0: it would not. */
  readonly waitSeconds: number
}

/**
 * Failed log-ins of all processes of a deployment together (ruling 1.26). They may be forgotten when the store stops.
 */
export interface LoginFailures {
  /**
   * Counts a failed log-in of one user from one network. `key` stands for both: a digest, since strangers make up
   * names. Of those that are counted at the same time a few more than `failuresMax` may be within the limit.
   */
  count(key: string, limit: LoginFailureLimit): Promise<CountedLoginFailure>
}
