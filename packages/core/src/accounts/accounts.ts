import type { Credits } from '../credits/credits.ts'
import type { Instant } from '../time/instant.ts'
import type { Account, AccountId, ApiKey, ComesFrom, KeyHash, KeyId, NewAccount, NewApiKey } from './account.ts'
import type { CallingCode } from '../messages/msisdn.ts'
import type { Login, PasswordHash } from '../people/secrets.ts'

export interface OpenedAccount {
  readonly account: NewAccount
  readonly password: PasswordHash | undefined
  /** Credits granted on opening, as the first entry of the ledger; not negative. */
  readonly credits: Credits
}

export type OpenRefusal = 'login-taken' | 'no-such-parent' | 'parent-is-sub-account'

/**
 * Returns why this account cannot have sub accounts (spec 2, Account), or undefined if it can. An undefined account
 * does not exist.
 */
export function parentRefusal(
  named: Pick<Account, 'parent'> | undefined,
): Exclude<OpenRefusal, 'login-taken'> | undefined {
  if (named === undefined) return 'no-such-parent'
  return named.parent === undefined ? undefined : 'parent-is-sub-account'
}

/** Changes to an existing account. Omitted fields do not change. */
export interface AccountChange {
  readonly login?: string | undefined
  readonly firstName?: string | undefined
  readonly surname?: string | undefined
  /** Null: the account is no longer a trial. */
  readonly trial?: NonNullable<Account['trial']> | null | undefined
  readonly transactional?: boolean | undefined
  /** Networks, as in `Account`; empty: any. */
  readonly from?: readonly string[] | undefined
  /** Maximum number of requests per second; null removes the limit. */
  readonly requestsPerSecond?: number | null | undefined
  readonly recipientsPerSecond?: number | null | undefined
  /** Null: none. */
  readonly callingCode?: CallingCode | null | undefined
}

export type ChangeRefusal = 'no-such-account' | 'login-taken'

export interface AccountWithBalance {
  readonly account: Account
  readonly balance: Credits
}

/**
 * Accounts and their credentials. A change is visible at once to the process that made it, to others within 5 seconds.
 */
export interface Accounts {
  /**
   * Finds the account of a key that is neither revoked nor expired at `now` and may be used from the origin of the
   * request.
   */
  byKey(hash: KeyHash, now: Instant, comesFrom?: ComesFrom): Promise<Account | undefined>
  /** Finds the account of a user name, in any letter case, with its password hash if it has a password. */
  byLogin(login: string): Promise<Login | undefined>
  /** Same as `byLogin`, but never from a cache, so that existing and unknown names take the same time. */
  readLogin(login: string): Promise<Login | undefined>
  /** Reads an account from the store, never from a cache. */
  find(id: AccountId): Promise<AccountWithBalance | undefined>
  /** Lists accounts with their balances, in the order of their ids. With `after`, only accounts with higher ids. */
  list(after?: AccountId): AsyncIterable<AccountWithBalance>
  /**
   * Finds accounts by a part of the login, the name, the number of a trial account, a code, or the e-mail address of a
   * user. The result is in the order of the ids. The letter case of A to Z does not matter.
   */
  search(
    part: string,
    page: { readonly after?: AccountId | undefined; readonly limit: number },
  ): Promise<readonly AccountWithBalance[]>
  /** Returns the logins of these accounts. Omits unknown ids. */
  logins(ids: readonly AccountId[]): Promise<ReadonlyMap<AccountId, string>>
  /** Reads the sub accounts of a main account, with balances, from the store. The result is in the order of the ids. */
  subAccounts(main: AccountId): Promise<readonly AccountWithBalance[]>
  /** Opens the account and grants its first credits, atomically. */
  open(opened: OpenedAccount, now: Instant): Promise<AccountId | OpenRefusal>
  /**
   * Makes all the changes, or makes none and returns the reason. Concurrent changes of different fields are all
   * applied.
   */
  change(id: AccountId, change: AccountChange): Promise<'changed' | ChangeRefusal>
  /**
   * Locks or unlocks an account. Locking ends the sessions of the account. Returns false if the account does not exist.
   * May be repeated.
   */
  setLocked(id: AccountId, locked: boolean): Promise<boolean>
  /** Replaces the password; undefined removes it. Returns false if the account does not exist. */
  setPassword(id: AccountId, password: PasswordHash | undefined): Promise<boolean>
  /**
   * Issues a key. Returns undefined if the account does not exist. Returns 'repeated', without an effect, if a key was
   * issued for this operation (a UUID) before.
   */
  issueKey(id: AccountId, key: NewApiKey, now: Instant, operation?: string): Promise<KeyId | undefined | 'repeated'>
  /** Lists the keys of an account in the order of their ids, including revoked and expired keys. */
  keys(id: AccountId): Promise<readonly ApiKey[]>
  /**
   * Sets the networks in CIDR form from which a key may be used; empty: any. Returns false if the key does not exist.
   */
  setKeyFrom(key: KeyId, from: readonly string[]): Promise<boolean>
  /** Revokes a key. Returns false if the key does not exist. The time of an earlier revocation does not change. */
  revokeKey(key: KeyId, now: Instant): Promise<boolean>
}
