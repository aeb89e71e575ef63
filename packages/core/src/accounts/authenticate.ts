import type { Ports } from '../ports.ts'
import type { AccountActivity, OverLimit } from './account-rates.ts'
import { mayComeFrom, type Account, type ComesFrom } from './account.ts'
import type { Login, TooManyFailures } from '../people/secrets.ts'

export type AuthenticationRefusal = 'wrong-credentials' | 'overloaded' | TooManyFailures | OverLimit

/** Credentials of a request. A blank value counts as missing and is undefined here. */
export interface Credentials {
  readonly apiKey?: string | undefined
  readonly pair?: { readonly user: string; readonly password: string } | undefined
  /** Network of the client, as in `PasswordAttempt.network`. */
  readonly network: string
  /** Address of the client as text; empty if unknown. */
  readonly address?: string | undefined
  /** Undefined: the origin is unknown, so credentials that are limited to networks are refused. */
  readonly comesFrom?: ComesFrom | undefined
}

/** User name and password of a request. */
export type PairToCheck = NonNullable<Credentials['pair']> & Pick<Credentials, 'network' | 'address' | 'comesFrom'>

/**
 * Returns the account of a user name and password, or why they are refused. TooManyFailures and 'overloaded' (nothing
 * was checked) follow ruling 1.26.
 */
export const checkPair =
  ({ accounts, secrets, clock }: Pick<Ports, 'accounts' | 'secrets' | 'clock'>) =>
  async (pair: PairToCheck): Promise<Login | 'wrong-credentials' | 'overloaded' | TooManyFailures> => {
    const { user: login, password, network, address = '', comesFrom } = pair
    const remembered = () => accounts.byLogin(login)
    const stored = () => accounts.readLogin(login)
    const mayUse = ({ account }: Login) => mayComeFrom(account.from, comesFrom)
    const now = clock.now()
    const checked = await secrets.checkPassword({
      ...{ login, password, network, address, now },
      ...{ remembered, stored, mayUse },
    })
    return checked === 'wrong' ? 'wrong-credentials' : checked
  }

/**
 * Returns the account to which the credentials belong, locked or not (ruling 1.14). If a key and a pair are present,
 * both must be right and belong to the same account (ruling 3.3), and each must be allowed from the origin; otherwise
 * the credentials are wrong. TooManyFailures and 'overloaded' (nothing was checked) occur only with a pair (ruling
 * 1.26). OverLimit: the credentials are right, but the account has used up its request rate.
 */
export const authenticate =
  (
    { accounts, secrets, accountRates, clock }: Pick<Ports, 'accounts' | 'secrets' | 'accountRates' | 'clock'>,
    activity?: AccountActivity,
  ) =>
  async (credentials: Credentials): Promise<Account | AuthenticationRefusal> => {
    /** Reports the request to the observer and counts it if the account has a limit. */
    async function withinLimit(account: Account): Promise<Account | OverLimit> {
      const { id, requestsPerSecond: limit } = account
      activity?.requested(id)
      const result = limit === undefined ? 'taken' : await accountRates.take(id, 'requests', 1, limit)
      return result === 'taken' ? account : result
    }

    const { apiKey, pair, network, address, comesFrom } = credentials
    const now = clock.now()
    const byKey = apiKey === undefined ? undefined : await accounts.byKey(secrets.hashKey(apiKey), now, comesFrom)
    if (apiKey !== undefined && byKey === undefined) return 'wrong-credentials'
    if (pair === undefined) return byKey === undefined ? 'wrong-credentials' : withinLimit(byKey)

    const checked = await checkPair({ accounts, secrets, clock })({ ...pair, network, address, comesFrom })
    if (checked === 'overloaded' || checked === 'wrong-credentials' || 'retryAfterSeconds' in checked) return checked
    if (byKey !== undefined && byKey.id !== checked.account.id) return 'wrong-credentials'
    return withinLimit(checked.account)
  }
