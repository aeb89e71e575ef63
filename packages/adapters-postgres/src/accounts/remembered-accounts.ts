import type { Account, Accounts, Instant, KeyHash, PasswordHash } from '@gateway/core'
import { sql, type Compilable } from 'kysely'
import type { Context } from '../context.ts'
import type { Pools } from '../pools.ts'
import { shortMemory } from '../short-memory.ts'
import type { HotStatement } from '../sql/hot-statement.ts'
import { accountOf, selectAccounts } from './account-row.ts'

interface Key {
  readonly account: Account
  readonly expires: number | null
  readonly revoked: boolean
}

/**
 * The two look-ups of every request, remembered for a few seconds. What is not there is not remembered: a key works, in every
 * process, as soon as it is issued.
 */
export function rememberedAccounts({ pools, settings, changes }: Context): Pick<Accounts, 'byKey' | 'byLogin'> {
  const { hot } = pools
  const { findKey, findLogin } = lookUps(pools)

  async function loadKey(hash: KeyHash): Promise<Key | undefined> {
    changes.listen()
    const [row] = await hot.run(findKey, [hash])
    return row && { account: accountOf(row), expires: row.expires_at, revoked: row.revoked_at !== null }
  }

  async function loadLogin(login: string) {
    changes.listen()
    const [row] = await hot.run(findLogin, [login])
    return row && { account: accountOf(row), password: (row.password_hash ?? undefined) as PasswordHash | undefined }
  }

  const bounds = { seconds: settings.cacheSeconds, entriesMax: settings.cachedAccountsMax }
  const keep = (value: unknown) => value !== undefined
  const keys = shortMemory({ ...bounds, keep, load: loadKey })
  const logins = shortMemory({ ...bounds, keep, load: loadLogin })
  changes.onChange(() => {
    keys.clear()
    logins.clear()
  })
  const opens = ({ revoked, expires }: Key, now: Instant) => !revoked && (expires === null || now < expires)
  return {
    byKey: async (hash, now) => {
      const key = await keys.get(hash)
      return key !== undefined && opens(key, now) ? key.account : undefined
    },
    byLogin: async (login) => (isAscii(login) ? logins.get(login.toLowerCase()) : undefined),
  }
}

/**
 * Prepared, on the hot connections: where a thousand accounts send less often than what is remembered lasts, every request looks
 * its key up, and planning that anew each time took the server 380 µs, more than the send itself. Now it is 90 to 150.
 */
export function lookUps({ kysely }: Pick<Pools, 'kysely'>) {
  const key = selectAccounts({ kysely })
    .innerJoin('api_key', 'api_key.account_id', 'account.id')
    .select(['api_key.expires_at', 'api_key.revoked_at'])
    .where('api_key.hash', '=', '')
  const login = selectAccounts({ kysely }).where(sql<boolean>`lower(directory.login collate "C") = ${''}`)
  return { findKey: prepared('find-key', key), findLogin: prepared('find-login', login) }
}

const prepared = <Row>(name: string, query: Compilable<Row>): HotStatement<Row> => ({ name, text: query.compile().sql })

/** No user name has other characters, of which some are ASCII in another letter case. */
const isAscii = (login: string): boolean => /^[!-~]*$/.test(login)
