import type { Ports } from '../ports.ts'
import type { Account } from './account.ts'
import type { TooManyFailures } from './secrets.ts'

/** What a request brought along. Blank values count as not given and are undefined here. */
export interface Credentials {
  readonly apiKey?: string | undefined
  readonly pair?: { readonly user: string; readonly password: string } | undefined
  /** Where the request comes from, as `PasswordAttempt.network`. */
  readonly network: string
}

/**
 * The account that the credentials open, locked or not (ruling 1.14). A key and a pair that are both given must both be
 * right and agree (ruling 3.3). TooManyFailures and 'overloaded' (nothing was checked) only ever answer a pair (ruling 1.26).
 */
export const authenticate =
  ({ accounts, secrets, clock }: Pick<Ports, 'accounts' | 'secrets' | 'clock'>) =>
  async (credentials: Credentials): Promise<Account | 'wrong-credentials' | 'overloaded' | TooManyFailures> => {
    const { apiKey, pair, network } = credentials
    const now = clock.now()
    const byKey = apiKey === undefined ? undefined : await accounts.byKey(secrets.hashKey(apiKey), now)
    if (apiKey !== undefined && byKey === undefined) return 'wrong-credentials'
    if (pair === undefined) return byKey ?? 'wrong-credentials'

    const { user: login, password } = pair
    const remembered = () => accounts.byLogin(login)
    const stored = () => accounts.readLogin(login)
    const checked = await secrets.checkPassword({ login, password, network, now, remembered, stored })
    if (checked === 'wrong') return 'wrong-credentials'
    if (checked === 'overloaded' || 'retryAfterSeconds' in checked) return checked
    return byKey === undefined || byKey.id === checked.account.id ? checked.account : 'wrong-credentials'
  }
