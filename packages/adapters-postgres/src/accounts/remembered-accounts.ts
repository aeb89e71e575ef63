import type { Account, Accounts, Instant, KeyHash, Login, PasswordHash } from '@gateway/core'
import type { Context } from '../context.ts'
import { createCache } from '../cache.ts'
import { findKey, findLogin } from '../sql/find-account.ts'
import { accountOf } from './account-row.ts'

interface Key {
  readonly account: Account
  readonly expires: number | null
  readonly revoked: boolean
}

/**
 * The two look-ups of every request, remembered for a few seconds, and that of a password to be hashed, read afresh. What is
 * not there is not remembered: a key works, in every process, as soon as it is issued.
 */
export function rememberedAccounts({
  pools,
  settings,
  changes,
}: Context): Pick<Accounts, 'byKey' | 'byLogin' | 'readLogin'> {
  const { hot } = pools

  async function loadKey(hash: KeyHash): Promise<Key | undefined> {
    changes.listen()
    const [row] = await hot.run(findKey, [hash])
    return row && { account: accountOf(row), expires: row.expires_at, revoked: row.revoked_at !== null }
  }

  async function loadLogin(login: string): Promise<Login | undefined> {
    changes.listen()
    const [row] = await hot.run(findLogin, [login])
    return row && { account: accountOf(row), password: (row.password_hash ?? undefined) as PasswordHash | undefined }
  }

  const bounds = { seconds: settings.cacheSeconds, entriesMax: settings.cachedAccountsMax }
  const keep = (value: unknown) => value !== undefined
  const keys = createCache({ ...bounds, keep, load: loadKey })
  const logins = createCache({ ...bounds, keep, load: loadLogin })
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
    readLogin: async (login) => (isAscii(login) ? loadLogin(login.toLowerCase()) : undefined),
  }
}

/** No user name has other characters, of which some are ASCII in another letter case. */
const isAscii = (login: string): boolean => /^[!-~]*$/.test(login)
