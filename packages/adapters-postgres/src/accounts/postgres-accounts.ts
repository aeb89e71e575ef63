import {
  loginKey,
  parentRefusal,
  type AccountChange,
  type AccountId,
  type Accounts,
  type AccountWithBalance,
  type ChangeRefusal,
  type OpenedAccount,
  type OpenRefusal,
} from '@gateway/core/accounts'
import type { PasswordHash } from '@gateway/core/people'
import type { Instant } from '@gateway/core/time'
import { sql, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import { notifyOthers } from '../changes.ts'
import type { Context } from '../context.ts'
import { isTaken } from '../errors.ts'
import type { Pools } from '../pools.ts'
import { hasRow } from '../query-parts.ts'
import { timestamp } from '../sql/arrays.ts'
import { LEDGER } from '../stored-codes.ts'
import type { Tables } from '../tables.ts'
import { issueKey, keysOf, revokeKey, setKeyFrom } from './api-keys.ts'
import { cachedAccounts, selectAccounts, withBalance } from './find-accounts.ts'

export function postgresAccounts(context: Context): Accounts {
  const { pools, changes } = context
  const { kysely } = pools

  async function find(id: AccountId): Promise<AccountWithBalance | undefined> {
    const row = await selectAccounts(pools).where('account.id', '=', id).executeTakeFirst()
    return row && withBalance(row)
  }

  async function subAccounts(main: AccountId): Promise<readonly AccountWithBalance[]> {
    const rows = await selectAccounts(pools).where('account.parent_id', '=', main).orderBy('account.id').execute()
    return rows.map(withBalance)
  }

  async function setLocked(id: AccountId, locked: boolean): Promise<boolean> {
    const changed = kysely
      .with('ended', (query) => query.deleteFrom('session').where('account_id', '=', id).where(sql.lit(locked)))
      .updateTable('account')
      .set({ locked })
      .where('id', '=', id)
    return hasRow(changed.returning(notifyOthers.as('notified')))
  }

  async function setPassword(id: AccountId, password: PasswordHash | undefined): Promise<boolean> {
    const changed = kysely
      .updateTable('directory')
      .set({ password_hash: password ?? null })
      .where('account_id', '=', id)
    return hasRow(changed.returning(notifyOthers.as('notified')))
  }
  return {
    ...cachedAccounts(context),
    find,
    list: (after) => listed(pools, after),
    search: (part, page) => search(pools, part, page),
    async logins(ids) {
      if (ids.length === 0) return new Map()
      const rows = await kysely
        .selectFrom('directory')
        .select(['account_id', 'login'])
        .where('account_id', 'in', ids)
        .execute()
      return new Map(rows.map((row) => [row.account_id, row.login]))
    },
    subAccounts,
    open: (opened, now) => changes.around(openAccount(kysely, opened, now)),
    change: (id, change) => changes.around(changeAccount(kysely, id, change)),
    setLocked: (id, locked) => changes.around(setLocked(id, locked)),
    setPassword: (id, password) => changes.around(setPassword(id, password)),
    issueKey: (id, key, now, operation) => issueKey(kysely, id, key, now, operation),
    keys: (id) => keysOf(kysely, id),
    setKeyFrom: (key, from) => changes.around(setKeyFrom(kysely, key, from)),
    revokeKey: (key, now) => changes.around(revokeKey(kysely, key, now)),
  }
}

const pageRows = 1000

async function* listed(pools: Pools, from?: AccountId): AsyncIterable<AccountWithBalance> {
  const page = selectAccounts(pools).orderBy('account.id').limit(pageRows)
  for (let after = from; ;) {
    const rows = await (after === undefined ? page : page.where('account.id', '>', after)).execute()
    yield* rows.map(withBalance)
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageRows) return
    after = last.id
  }
}

/** Looks at every account, because no index has parts of texts. Collation "C" folds the letters A to Z only. */
async function search(
  pools: Pools,
  part: string,
  { after, limit }: Parameters<Accounts['search']>[1],
): Promise<readonly AccountWithBalance[]> {
  const has = (text: RawBuilder<string>): RawBuilder<SqlBool> =>
    sql`strpos(lower(${text} collate "C"), lower(${part}::text collate "C")) > 0`
  const rows = await selectAccounts(pools)
    .where('account.id', '>', after ?? (0 as AccountId))
    .where(
      sql<SqlBool>`(${has(sql`directory.login`)}
        or ${has(sql`directory.first_name || ' ' || directory.surname`)}
        or ${has(sql`coalesce(directory.own_number::text, '')`)}
        or exists (select from sender where account_id = account.id and ${has(sql`address`)})
        or exists (select from account_user where account_id = account.id and ${has(sql`email`)}))`,
    )
    .orderBy('account.id')
    .limit(limit)
    .execute()
  return rows.map(withBalance)
}

/**
 * Opens an account in one transaction. If two accounts get the same log-in name at once, the unique index admits one.
 */
async function openAccount(
  kysely: Kysely<Tables>,
  opened: OpenedAccount,
  now: Instant,
): Promise<AccountId | OpenRefusal> {
  if (opened.credits < 0) throw new RangeError('an account cannot be opened with a debt')
  try {
    return await kysely.transaction().execute(async (transaction) => {
      const refusal = await refusalOf(transaction, opened)
      return refusal ?? (await insert(transaction, opened, now))
    })
  } catch (error) {
    if (isTaken(error, 'directory_login')) return 'login-taken'
    throw error
  }
}

async function refusalOf(
  transaction: Kysely<Tables>,
  { account: { login, parent } }: OpenedAccount,
): Promise<OpenRefusal | undefined> {
  const holder = await transaction
    .selectFrom('directory')
    .select('account_id')
    .where(sql<boolean>`lower(login collate "C") = ${loginKey(login) ?? null}`)
    .executeTakeFirst()
  if (holder !== undefined) return 'login-taken'
  if (parent === undefined) return undefined

  const main = await transaction.selectFrom('account').select('parent_id').where('id', '=', parent).executeTakeFirst()
  return parentRefusal(main && { parent: main.parent_id ?? undefined })
}

async function insert(
  transaction: Kysely<Tables>,
  { account, password, credits: granted }: OpenedAccount,
  now: Instant,
): Promise<AccountId> {
  const at = timestamp(now)
  const { id } = await transaction
    .insertInto('account')
    .values({ parent_id: account.parent ?? null, balance: granted })
    .returning('id')
    .executeTakeFirstOrThrow()
  await transaction
    .insertInto('directory')
    .values({
      account_id: id,
      login: account.login,
      first_name: account.firstName,
      surname: account.surname,
      own_number: account.trial === undefined ? null : Number(account.trial.ownNumber),
      transactional: account.transactional,
      password_hash: password ?? null,
      created_at: at,
    })
    .execute()
  await transaction
    .insertInto('ledger')
    .values({ account_id: id, kind: LEDGER.topUp, amount: granted, at, why: 'opened' })
    .execute()
  await transaction.selectNoFrom(notifyOthers.as('notified')).execute()
  return id
}

/** Writes the columns to change. If two accounts get the same log-in name at once, the unique index admits one. */
async function changeAccount(
  kysely: Kysely<Tables>,
  id: AccountId,
  { login, firstName, surname, trial, transactional, from, callingCode, ...limits }: AccountChange,
): Promise<'changed' | ChangeRefusal> {
  const { requestsPerSecond, recipientsPerSecond } = limits
  const columns = {
    // Always written, so that the statement has a column and shows whether the account exists.
    account_id: id,
    ...(login !== undefined && { login }),
    ...(firstName !== undefined && { first_name: firstName }),
    ...(surname !== undefined && { surname }),
    ...(trial !== undefined && { own_number: trial === null ? null : Number(trial.ownNumber) }),
    ...(transactional !== undefined && { transactional }),
    ...(from !== undefined && { from_networks: from }),
    ...(requestsPerSecond !== undefined && { requests_per_second: requestsPerSecond }),
    ...(recipientsPerSecond !== undefined && { recipients_per_second: recipientsPerSecond }),
    ...(callingCode !== undefined && { calling_code: callingCode }),
  }
  const changed = kysely.updateTable('directory').set(columns).where('account_id', '=', id)
  try {
    return (await hasRow(changed.returning(notifyOthers.as('notified')))) ? 'changed' : 'no-such-account'
  } catch (error) {
    if (isTaken(error, 'directory_login')) return 'login-taken'
    throw error
  }
}
