import type { Credits } from '../credits/credits.ts'
import type { Instant } from '../time/instant.ts'
import type { Account, AccountId, ApiKey, ComesFrom, KeyHash, KeyId, NewAccount, NewApiKey } from './account.ts'
import type { Login, PasswordHash } from '../people/secrets.ts'

export interface OpenedAccount {
  readonly account: NewAccount
  readonly password: PasswordHash | undefined
  /** Granted at once, as the first entry of its ledger; not negative. */
  readonly credits: Credits
}

export type OpenRefusal = 'login-taken' | 'no-such-parent' | 'parent-is-sub-account'

/**
 * Why this account cannot have sub accounts, undefined standing for one that is not there; undefined: it can (spec 2,
 * Account).
 */
export function parentRefusal(
  named: Pick<Account, 'parent'> | undefined,
): Exclude<OpenRefusal, 'login-taken'> | undefined {
  if (named === undefined) return 'no-such-parent'
  return named.parent === undefined ? undefined : 'parent-is-sub-account'
}

/** What of an account can be changed while it is in use; what is left out stays as it is. */
export interface AccountChange {
  readonly login?: string | undefined
  readonly firstName?: string | undefined
  readonly surname?: string | undefined
  /** Null: it is no trial any more. */
  readonly trial?: NonNullable<Account['trial']> | null | undefined
  readonly transactional?: boolean | undefined
  /** As of `Account`; empty: from anywhere. */
  readonly from?: readonly string[] | undefined
  /** Null: no limit. */
  readonly requestsPerSecond?: number | null | undefined
  readonly recipientsPerSecond?: number | null | undefined
}

export type ChangeRefusal = 'no-such-account' | 'login-taken'

export interface AccountWithBalance {
  readonly account: Account
  readonly balance: Credits
}

/**
 * Accounts and what opens them. Changes are seen by every process within 5 seconds; by the process that made them at
 * once.
 */
export interface Accounts {
  /**
   * The account of a key that is neither revoked nor expired at `now`, and may be used from where the request comes.
   */
  byKey(hash: KeyHash, now: Instant, comesFrom?: ComesFrom): Promise<Account | undefined>
  /** The account of a user name, in any letter case, with its password's hash if it has a password. */
  byLogin(login: string): Promise<Login | undefined>
  /** As `byLogin`, never from a cache: a name that somebody uses takes no less time than one that nobody has. */
  readLogin(login: string): Promise<Login | undefined>
  /** Read afresh, never from a cache. */
  find(id: AccountId): Promise<AccountWithBalance | undefined>
  /** Every account with its balance, by id; `after`: only those with a higher one. */
  list(after?: AccountId): AsyncIterable<AccountWithBalance>
  /** The sub accounts of a main account with their balances, by id; read afresh. */
  subAccounts(main: AccountId): Promise<readonly AccountWithBalance[]>
  /** Opens the account and grants its first credits, or does neither. */
  open(opened: OpenedAccount, now: Instant): Promise<AccountId | OpenRefusal>
  /** All of it, or nothing and why not. Two that change different things at the same time both count. */
  change(id: AccountId, change: AccountChange): Promise<'changed' | ChangeRefusal>
  /** False: no such account. Setting what is already so succeeds. Locking ends the sessions of the account. */
  setLocked(id: AccountId, locked: boolean): Promise<boolean>
  /** Undefined: it has none any more. False: no such account. */
  setPassword(id: AccountId, password: PasswordHash | undefined): Promise<boolean>
  /** Undefined: no such account. 'repeated': a key was issued for this operation, a UUID, before; nothing was done. */
  issueKey(id: AccountId, key: NewApiKey, now: Instant, operation?: string): Promise<KeyId | undefined | 'repeated'>
  /** The keys of an account by id, revoked and expired ones too. */
  keys(id: AccountId): Promise<readonly ApiKey[]>
  /** Networks in CIDR form from which a key may be used; none: from anywhere. False: no such key. */
  setKeyFrom(key: KeyId, from: readonly string[]): Promise<boolean>
  /** False: no such key. A key that is revoked already keeps its first time. */
  revokeKey(key: KeyId, now: Instant): Promise<boolean>
}
