import {
  isValid,
  loginKey,
  type Account,
  type Accounts,
  type ApiKey,
  type KeyHash,
  type Login,
  type PasswordHash,
} from '@gateway/core'
import type { Context } from '../context.ts'
import { createCache } from '../cache.ts'
import { findKey, findLogin } from '../sql/find-account.ts'
import { accountOf } from './account-row.ts'
import { validityOf } from './api-keys.ts'

interface Key extends Pick<ApiKey, 'expires' | 'revoked' | 'from'> {
  readonly holder: Account
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
    return row && { holder: accountOf(row), ...validityOf(row) }
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
  return {
    byKey: async (hash, now, comesFrom) => {
      const wasRemembered = keys.has(hash)
      const key = await keys.get(hash)
      if (key === undefined || isValid(key, now, comesFrom)) return key?.holder
      // As long as for a key that is not there, which is never remembered.
      if (wasRemembered) await loadKey(hash)
      return undefined
    },
    byLogin: async (login) => ifThere((key) => logins.get(key), loginKey(login)),
    readLogin: async (login) => ifThere(loadLogin, loginKey(login)),
  }
}

const ifThere = <Found>(find: (key: string) => Promise<Found>, key: string | undefined) =>
  key === undefined ? undefined : find(key)
