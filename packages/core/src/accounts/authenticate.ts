import type { Ports } from '../ports.ts'
import type { AccountActivity, OverLimit } from './account-rates.ts'
import { mayComeFrom, type Account, type ComesFrom } from './account.ts'
import type { Login, TooManyFailures } from '../people/secrets.ts'

export type AuthenticationRefusal = 'wrong-credentials' | 'overloaded' | TooManyFailures | OverLimit

/** What a request brought along. Blank values count as not given and are undefined here. */
export interface Credentials {
  readonly apiKey?: string | undefined
  readonly pair?: { readonly user: string; readonly password: string } | undefined
  /** Where the request comes from, as `PasswordAttempt.network`. */
  readonly network: string
  /** The same in full, as text; empty: not known. */
  readonly address?: string | undefined
  /** Undefined: that is not known, and what is good from some networks only opens nothing. */
  readonly comesFrom?: ComesFrom | undefined
}

/** A user name and its password, as a request brought them along. */
export type PairToCheck = NonNullable<Credentials['pair']> & Pick<Credentials, 'network' | 'address' | 'comesFrom'>

/** Whose pair it is, used from where it may be. TooManyFailures and 'overloaded' (nothing was checked): ruling 1.26. */
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
 * The account that the credentials open, locked or not (ruling 1.14). A key and a pair that are both given must both be
 * right and agree (ruling 3.3), and each be used from where it may be: else it is wrong. TooManyFailures and
 * 'overloaded' (nothing was checked) only ever answer a pair (ruling 1.26). OverLimit: they are right, and this is one
 * request too many.
 */
export const authenticate =
  (
    { accounts, secrets, rateLimits, clock }: Pick<Ports, 'accounts' | 'secrets' | 'rateLimits' | 'clock'>,
    activity?: AccountActivity,
  ) =>
  async (credentials: Credentials): Promise<Account | AuthenticationRefusal> => {
    /** Counts the request, for whoever watches and if the account has a limit. */
    async function withinLimit(account: Account): Promise<Account | OverLimit> {
      const { id, requestsPerSecond: limit } = account
      activity?.requested(id)
      const taken = limit === undefined ? 'taken' : await rateLimits.take(id, 'requests', 1, limit)
      return taken === 'taken' ? account : taken
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
