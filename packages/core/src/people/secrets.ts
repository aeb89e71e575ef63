import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'
import type { Account, KeyHash } from '../accounts/account.ts'

/** Salted, slow hash of a password with its parameters. Only the adapter that made it can read it. */
export type PasswordHash = Brand<string, 'PasswordHash'>

/**
 * Use of a password. It determines how often the password is checked, and therefore how expensive its hash may be.
 * `requests`: user name and password of an account, which programs send with each request. `sign-in`: a user or
 * operator of the portal, whose password is checked when the person signs in.
 */
export type PasswordUse = 'requests' | 'sign-in'

/** Owner of a user name. Without a password nobody can log in with it. */
export interface Login {
  readonly account: Account
  readonly password: PasswordHash | undefined
}

/** Owner of a password: an account holder or an operator. */
export interface PasswordOwner {
  readonly password: PasswordHash | undefined
}

export interface PasswordAttempt<Owner extends PasswordOwner = Login> {
  readonly login: string
  readonly password: string
  /** Network from which the attempt comes: an IPv4 /24 or an IPv6 /64 (ruling 1.26). */
  readonly network: string
  /** Full address as text. */
  readonly address: string
  readonly now: Instant
  /**
   * Defaults to `requests`. With `sign-in` every check takes as long as a check of a hash for `sign-in`, whichever hash
   * is stored. The duration therefore does not show whether the name belongs to an account, to a user or to nobody.
   */
  readonly use?: PasswordUse
  /** Returns true if the login may be used from this origin. Otherwise a right password is treated as a wrong one. */
  readonly mayUse: (login: Owner) => boolean
  /**
   * Returns the owner of the name, cached for a few seconds. Called only if this name and password were correct
   * recently.
   */
  readonly remembered: () => Promise<Owner | undefined>
  /**
   * Reads the owner of the name from the store. Called when the attempt may start to hash; a refusal before that does
   * not depend on the name.
   */
  readonly stored: () => Promise<Owner | undefined>
}

/** Refusal after too many failures of one user from one network (ruling 1.26). */
export interface TooManyFailures {
  readonly retryAfterSeconds: number
}

/** Random secrets and their hashes. */
export interface Secrets {
  /** Returns a new API key of 256 random bits, in characters that need no encoding in a URL, a header or XML. */
  newApiKey(): string
  /** Returns a new password of at least 96 bits, in the same characters. */
  newPassword(): string
  /** Returns a token of 256 random bits for a session or a link, in the same characters. */
  newToken(): string
  /** Returns a secret of 160 bits for an authenticator, in base32 (RFC 4648). */
  newTotpSecret(): string
  /**
   * Returns the time step of 30 seconds to which a code of six digits belongs (RFC 6238): that of `now`, the one
   * before, or the one after. Returns undefined if the code belongs to none of them.
   */
  totpStep(secret: string, code: string, now: Instant): number | undefined
  /** Hashes a key or a token. */
  hashKey(key: string): KeyHash
  /** Hashes a password. `use` determines the cost; the default is `requests`. */
  hashPassword(password: string, use?: PasswordUse): Promise<PasswordHash>
  /** Returns true if a stored hash costs less than a new one for `sign-in` would. */
  isWeakForSignIn(hash: PasswordHash): boolean
  /** Returns true if the password, in any letter case, is on the list of frequent passwords, such as `password123`. */
  isCommonPassword(password: string): Promise<boolean>
  /**
   * Returns the owner of a name and password, or why they are refused. Failures are counted by user (in any letter
   * case) and network; after more than ten in a minute the result is TooManyFailures (ruling 1.26). A pair of name and
   * password that was correct recently is accepted at once, even after too many failures. Each use of the pair extends
   * this time, and a new stored password ends it. Equal concurrent attempts count as one. A limited number of hashes
   * run concurrently; other attempts wait, and networks take turns. 'overloaded': too many attempts wait; nothing was
   * hashed or counted.
   *
   * The duration never shows whether the name exists. TooManyFailures and 'overloaded' are decided before the name is
   * looked up. 'wrong' is decided after one look-up and one hash, even if nobody has the name. Rejects if a look-up
   * rejects, which does not count as a failure.
   */
  checkPassword<Owner extends PasswordOwner>(
    attempt: PasswordAttempt<Owner>,
  ): Promise<Owner | 'wrong' | 'overloaded' | TooManyFailures>
}

export interface LoginFailureLimit {
  /** Maximum number of failures of one key that are counted; at least 1. */
  readonly failuresMax: number
  /** Seconds for which a failure counts, by the store's clock. */
  readonly seconds: number
}

export interface CountedLoginFailure {
  /** False if the limit had been reached before this failure. The failure was then not counted. */
  readonly isWithinLimit: boolean
  /** Seconds until another failure would be within the limit; 0 if it would be now. */
  readonly waitSeconds: number
}

/** Failed log-ins of all processes together (ruling 1.26). They may be lost when the store stops. */
export interface LoginFailures {
  /**
   * Counts a failed log-in of one user from one network. `key` is a digest of both, because the names that strangers
   * send are arbitrary. If calls are concurrent, slightly more than `failuresMax` failures may count as within the
   * limit.
   */
  count(key: string, limit: LoginFailureLimit): Promise<CountedLoginFailure>
}
