import {
  isValid,
  loginKey,
  type Account,
  type Accounts,
  type AccountWithBalance,
  type ApiKey,
  type KeyHash,
} from '@gateway/core/accounts'
import type { Credits } from '@gateway/core/credits'
import type { Msisdn, SenderAddress } from '@gateway/core/messages'
import type { Login } from '@gateway/core/people'
import { sql } from 'kysely'
import { createCache } from '../cache.ts'
import type { Context } from '../context.ts'
import type { Pools } from '../pools.ts'
import { findKey, findLogin, type AccountRow } from '../sql/accounts.ts'
import { validityOf } from './api-keys.ts'

const directoryColumns = [
  'account.id',
  'account.parent_id',
  'account.locked',
  'directory.login',
  'directory.first_name',
  'directory.surname',
  'directory.transactional',
  'directory.from_networks',
  'directory.requests_per_second',
  'directory.recipients_per_second',
  'directory.calling_code',
] as const

/** Short codes of an account, in the order in which they were assigned. */
const codes = sql<
  readonly SenderAddress[]
>`array(select address from sender where account_id = account.id order by assigned_at, id)`

const ownNumber = sql<Msisdn | null>`directory.own_number::text`

/** Query for accounts with all columns that core needs. */
export const selectAccounts = ({ kysely }: Pick<Pools, 'kysely'>) =>
  kysely
    .selectFrom('account')
    .innerJoin('directory', 'directory.account_id', 'account.id')
    .select([...directoryColumns, 'account.balance', ownNumber.as('own_number'), codes.as('codes')])

export const accountOf = (row: AccountRow): Account => ({
  id: row.id,
  parent: row.parent_id ?? undefined,
  login: row.login,
  firstName: row.first_name,
  surname: row.surname,
  locked: row.locked,
  trial: row.own_number === null ? undefined : { ownNumber: row.own_number },
  transactional: row.transactional,
  from: row.from_networks,
  requestsPerSecond: row.requests_per_second ?? undefined,
  recipientsPerSecond: row.recipients_per_second ?? undefined,
  callingCode: row.calling_code ?? undefined,
  shortCodes: row.codes,
})

export const withBalance = (row: AccountRow & { readonly balance: Credits }): AccountWithBalance => ({
  account: accountOf(row),
  balance: row.balance,
})

interface Key extends Pick<ApiKey, 'expires' | 'revoked' | 'from'> {
  readonly holder: Account
}

/**
 * Creates three lookups of accounts. `byKey` and `byLogin`, which requests use, are cached for a few seconds.
 * `readLogin`, for a password to be hashed, is not cached. A missing key is not cached either, so a key works in every
 * process as soon as it is issued.
 */
export function cachedAccounts({
  pools,
  settings,
  changes,
}: Context): Pick<Accounts, 'byKey' | 'byLogin' | 'readLogin'> {
  const { hot } = pools

  async function loadKey(hash: KeyHash): Promise<Key | undefined> {
    changes.listen()
    const [row] = await hot.run(findKey, { hash })
    return row && { holder: accountOf(row), ...validityOf(row) }
  }

  async function loadLogin(login: string): Promise<Login | undefined> {
    changes.listen()
    const [row] = await hot.run(findLogin, { login })
    return row && { account: accountOf(row), password: row.password_hash ?? undefined }
  }

  const bounds = { seconds: settings.cacheSeconds, entriesMax: settings.cachedAccountsMax }
  const keys = createCache({ ...bounds, load: loadKey })
  const logins = createCache({ ...bounds, load: loadLogin })
  changes.onChange(() => {
    keys.clear()
    logins.clear()
  })
  return {
    byKey: async (hash, now, comesFrom) => {
      const wasCached = keys.has(hash)
      const key = await keys.get(hash)
      if (key === undefined || isValid(key, now, comesFrom)) return key?.holder
      // Loads the key again so that an invalid key takes as long as a missing one, which is never cached.
      if (wasCached) await loadKey(hash)
      return undefined
    },
    byLogin: async (login) => ifThere((key) => logins.get(key), loginKey(login)),
    readLogin: async (login) => ifThere(loadLogin, loginKey(login)),
  }
}

const ifThere = <Found>(find: (key: string) => Promise<Found>, key: string | undefined) =>
  key === undefined ? undefined : find(key)
