import { credits, type Credits } from '../credits/credits.ts'
import type { Msisdn } from '../messages/msisdn.ts'
import type { Ports } from '../ports.ts'
import type { Instant } from '../time/instant.ts'
import { accountId, isLogin, isValid, type Account, type AccountId, type KeyId } from './account.ts'
import type { AccountChange, AccountWithBalance, ChangeRefusal, OpenRefusal } from './accounts.ts'
import { isPassword, newPasswordRefusal, type NewPasswordRefusal } from '../people/new-password.ts'

export interface AccountToOpen {
  readonly login: string
  /** Undefined: the account has no password, only keys. */
  readonly password?: string | undefined
  readonly parent?: AccountId | undefined
  /** First credits; undefined: none. Not negative. */
  readonly credits?: Credits | undefined
  readonly trial?: { readonly ownNumber: Msisdn } | undefined
  readonly transactional?: boolean | undefined
  readonly firstName?: string | undefined
  readonly surname?: string | undefined
}

/** Password of an account that is moved from another system. It may be short or common. */
export interface ImportedPassword {
  readonly isImported?: boolean | undefined
}

const refusalOf = async (
  ports: Pick<Ports, 'secrets'>,
  password: string,
  login: string,
  { isImported = false }: ImportedPassword,
): Promise<NewPasswordRefusal | undefined> => {
  if (isImported) return isPassword(password) ? undefined : 'invalid-password'
  return newPasswordRefusal(ports, password, login)
}

/** Opens a main or sub account. The login is its name on the legacy interfaces and unique in any letter case. */
export const openAccount =
  (ports: Pick<Ports, 'accounts' | 'secrets' | 'clock'>) =>
  async (
    account: AccountToOpen,
    imported: ImportedPassword = {},
  ): Promise<AccountId | OpenRefusal | 'invalid-login' | NewPasswordRefusal | 'negative-credits'> => {
    const granted = account.credits ?? credits(0)
    if (!isLogin(account.login)) return 'invalid-login'
    const { password, login } = account
    const refusal = password === undefined ? undefined : await refusalOf(ports, password, login, imported)
    if (refusal !== undefined) return refusal
    if (granted < 0) return 'negative-credits'
    return ports.accounts.open(
      {
        account: {
          parent: account.parent,
          login: account.login,
          firstName: account.firstName ?? '',
          surname: account.surname ?? '',
          trial: account.trial,
          transactional: account.transactional ?? false,
        },
        password: password === undefined ? undefined : await ports.secrets.hashPassword(password),
        credits: granted,
      },
      ports.clock.now(),
    )
  }

/**
 * Finds an account by its login, in any letter case, or by its id in digits. If a login consists of digits, the account
 * with that id wins.
 */
export const findAccount =
  (ports: Pick<Ports, 'accounts'>) =>
  async (name: string): Promise<AccountWithBalance | undefined> => {
    const id = /^[0-9]{1,10}$/.test(name) ? accountId(Number(name)) : undefined
    const found = id === undefined ? undefined : await ports.accounts.find(id)
    return found ?? findByLogin(ports)(name)
  }

/** Finds the account with this login, in any letter case. */
export const findByLogin =
  (ports: Pick<Ports, 'accounts'>) =>
  async (login: string): Promise<AccountWithBalance | undefined> => {
    const named = await ports.accounts.byLogin(login)
    return named && ports.accounts.find(named.account.id)
  }

/** Lists the sub accounts of a main account, by id. The list of a sub account is empty (ruling 2.14). */
export const listSubAccounts =
  (ports: Pick<Ports, 'accounts'>) =>
  (account: Account): Promise<readonly AccountWithBalance[]> =>
    account.parent === undefined ? ports.accounts.subAccounts(account.id) : Promise.resolve([])

/**
 * Changes the settings of an account. Omitted fields do not change. A change applies to messages accepted afterwards
 * and reaches every process within 5 seconds.
 */
export const changeAccount =
  (ports: Pick<Ports, 'accounts'>) =>
  async (id: AccountId, change: AccountChange): Promise<'changed' | ChangeRefusal | 'invalid-login'> =>
    change.login !== undefined && !isLogin(change.login) ? 'invalid-login' : ports.accounts.change(id, change)

/** Replaces the password. The old one stops working at once, in other processes within 5 seconds. */
export const setPassword =
  (ports: Pick<Ports, 'accounts' | 'secrets'>) =>
  async (
    id: AccountId,
    password: string,
    imported: ImportedPassword = {},
  ): Promise<'set' | 'no-such-account' | NewPasswordRefusal> => {
    const found = await ports.accounts.find(id)
    if (found === undefined) return 'no-such-account'
    const refusal = await refusalOf(ports, password, found.account.login, imported)
    if (refusal !== undefined) return refusal
    const done = await ports.accounts.setPassword(id, await ports.secrets.hashPassword(password))
    return done ? 'set' : 'no-such-account'
  }

/**
 * Locks an account. It may still read; each waiting message ends with code 202 and a refund when a dispatcher claims it
 * (rulings 1.13, 1.14).
 */
export const lockAccount =
  (ports: Pick<Ports, 'accounts'>) =>
  async (id: AccountId): Promise<'locked' | 'no-such-account'> =>
    (await ports.accounts.setLocked(id, true)) ? 'locked' : 'no-such-account'

export const unlockAccount =
  (ports: Pick<Ports, 'accounts'>) =>
  async (id: AccountId): Promise<'unlocked' | 'no-such-account'> =>
    (await ports.accounts.setLocked(id, false)) ? 'unlocked' : 'no-such-account'

const prefixLength = 6

/** API key in clear text. It is shown once and never stored. */
export interface IssuedKey {
  readonly id: KeyId
  readonly key: string
}

export interface NewKeyOptions {
  readonly label?: string | undefined
  readonly expires?: Instant | undefined
  readonly from?: readonly string[] | undefined
  /** UUID of the operation. A repetition with the same UUID issues no second key. */
  readonly operation?: string | undefined
}

/**
 * Issues an additional key, which is valid until it expires or is revoked. Returns 'repeated' if it was issued for this
 * operation before; the key is not shown again.
 */
export const issueApiKey =
  (ports: Pick<Ports, 'accounts' | 'secrets' | 'clock'>) =>
  async (
    account: AccountId,
    about: NewKeyOptions = {},
  ): Promise<IssuedKey | 'no-such-account' | 'expired-already' | 'repeated'> => {
    const now = ports.clock.now()
    if (!isValid({ expires: about.expires, revoked: undefined, from: [] }, now)) return 'expired-already'
    const key = ports.secrets.newApiKey()
    const id = await ports.accounts.issueKey(
      account,
      {
        hash: ports.secrets.hashKey(key),
        prefix: key.slice(0, prefixLength),
        label: about.label ?? '',
        expires: about.expires,
        from: about.from ?? [],
      },
      now,
      about.operation,
    )
    if (id === 'repeated') return id
    return id === undefined ? 'no-such-account' : { id, key }
  }

/** Revokes a key, in every process within 5 seconds. May be repeated. */
export const revokeApiKey =
  (ports: Pick<Ports, 'accounts' | 'clock'>) =>
  async (key: KeyId): Promise<'revoked' | 'no-such-key'> =>
    (await ports.accounts.revokeKey(key, ports.clock.now())) ? 'revoked' : 'no-such-key'

/** Same as `revokeApiKey`, for a key of the account itself. A key of another account is not found. */
export const revokeOwnKey =
  (ports: Pick<Ports, 'accounts' | 'clock'>) =>
  async (account: Account, key: KeyId): Promise<'revoked' | 'no-such-key'> => {
    const own = await ports.accounts.keys(account.id)
    return own.some(({ id }) => id === key) ? revokeApiKey(ports)(key) : 'no-such-key'
  }
