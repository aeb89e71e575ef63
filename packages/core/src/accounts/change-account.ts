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
  /** Undefined: none. Not negative. */
  readonly credits?: Credits | undefined
  readonly trial?: { readonly ownNumber: Msisdn } | undefined
  readonly transactional?: boolean | undefined
  readonly firstName?: string | undefined
  readonly surname?: string | undefined
}

/** Of an account that brings its password along, which may be a short or a common one. */
export interface KeptPassword {
  readonly isKept?: boolean | undefined
}

const refusalOf = async (
  ports: Pick<Ports, 'secrets'>,
  password: string,
  login: string,
  { isKept = false }: KeptPassword,
): Promise<NewPasswordRefusal | undefined> => {
  if (isKept) return isPassword(password) ? undefined : 'invalid-password'
  return newPasswordRefusal(ports, password, login)
}

/** Opens a main or sub account. The login names it on the legacy interfaces and is unique in any letter case. */
export const openAccount =
  (ports: Pick<Ports, 'accounts' | 'secrets' | 'clock'>) =>
  async (
    wanted: AccountToOpen,
    kept: KeptPassword = {},
  ): Promise<AccountId | OpenRefusal | 'invalid-login' | NewPasswordRefusal | 'negative-credits'> => {
    const granted = wanted.credits ?? credits(0)
    if (!isLogin(wanted.login)) return 'invalid-login'
    const { password, login } = wanted
    const refusal = password === undefined ? undefined : await refusalOf(ports, password, login, kept)
    if (refusal !== undefined) return refusal
    if (granted < 0) return 'negative-credits'
    return ports.accounts.open(
      {
        account: {
          parent: wanted.parent,
          login: wanted.login,
          firstName: wanted.firstName ?? '',
          surname: wanted.surname ?? '',
          trial: wanted.trial,
          transactional: wanted.transactional ?? false,
        },
        password: password === undefined ? undefined : await ports.secrets.hashPassword(password),
        credits: granted,
      },
      ports.clock.now(),
    )
  }

/**
 * The account that an operator names by its login, in any letter case, or by its id in digits. A login may be digits
 * too: then the account with this id comes first.
 */
export const findAccount =
  (ports: Pick<Ports, 'accounts'>) =>
  async (name: string): Promise<AccountWithBalance | undefined> => {
    const id = /^[0-9]{1,10}$/.test(name) ? accountId(Number(name)) : undefined
    const found = id === undefined ? undefined : await ports.accounts.find(id)
    return found ?? findByLogin(ports)(name)
  }

/** The account with this login, in any letter case. */
export const findByLogin =
  (ports: Pick<Ports, 'accounts'>) =>
  async (login: string): Promise<AccountWithBalance | undefined> => {
    const named = await ports.accounts.byLogin(login)
    return named && ports.accounts.find(named.account.id)
  }

/** The sub accounts of a main account, by id; a sub account has none (ruling 2.14). */
export const listSubAccounts =
  (ports: Pick<Ports, 'accounts'>) =>
  (account: Account): Promise<readonly AccountWithBalance[]> =>
    account.parent === undefined ? ports.accounts.subAccounts(account.id) : Promise.resolve([])

/**
 * Changes the settings of an account; a field that is left out does not change. A change applies to messages accepted
 * afterwards and, like every change of an account, reaches every process within 5 seconds.
 */
export const changeAccount =
  (ports: Pick<Ports, 'accounts'>) =>
  async (id: AccountId, change: AccountChange): Promise<'changed' | ChangeRefusal | 'invalid-login'> =>
    change.login !== undefined && !isLogin(change.login) ? 'invalid-login' : ports.accounts.change(id, change)

/** From the next request on, in any process within 5 seconds, only the new password is right. */
export const setPassword =
  (ports: Pick<Ports, 'accounts' | 'secrets'>) =>
  async (
    id: AccountId,
    password: string,
    kept: KeptPassword = {},
  ): Promise<'set' | 'no-such-account' | NewPasswordRefusal> => {
    const found = await ports.accounts.find(id)
    if (found === undefined) return 'no-such-account'
    const refusal = await refusalOf(ports, password, found.account.login, kept)
    if (refusal !== undefined) return refusal
    const done = await ports.accounts.setPassword(id, await ports.secrets.hashPassword(password))
    return done ? 'set' : 'no-such-account'
  }

/**
 * A locked account keeps its rights to read; what it has waiting ends with code 202, refunded, when its turn comes
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

/** A key in clear: shown once, stored nowhere. */
export interface IssuedKey {
  readonly id: KeyId
  readonly key: string
}

export interface KeyWanted {
  readonly label?: string | undefined
  readonly expires?: Instant | undefined
  readonly from?: readonly string[] | undefined
  /** A UUID, by which the key is issued once however often it is asked for. */
  readonly operation?: string | undefined
}

/**
 * Issues one more key; the ones before stay valid. It opens the account until it expires or is revoked. 'repeated': it
 * was issued before for this operation, and is shown to nobody again.
 */
export const issueApiKey =
  (ports: Pick<Ports, 'accounts' | 'secrets' | 'clock'>) =>
  async (
    account: AccountId,
    about: KeyWanted = {},
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

/** The key is dead in every process within 5 seconds. Revoking twice is no error. */
export const revokeApiKey =
  (ports: Pick<Ports, 'accounts' | 'clock'>) =>
  async (key: KeyId): Promise<'revoked' | 'no-such-key'> =>
    (await ports.accounts.revokeKey(key, ports.clock.now())) ? 'revoked' : 'no-such-key'

/** As `revokeApiKey`, for a key of the account itself; that of another account is not found. */
export const revokeOwnKey =
  (ports: Pick<Ports, 'accounts' | 'clock'>) =>
  async (account: Account, key: KeyId): Promise<'revoked' | 'no-such-key'> => {
    const own = await ports.accounts.keys(account.id)
    return own.some(({ id }) => id === key) ? revokeApiKey(ports)(key) : 'no-such-key'
  }
