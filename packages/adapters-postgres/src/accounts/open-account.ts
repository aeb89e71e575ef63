import {
  loginKey,
  parentRefusal,
  type AccountId,
  type Instant,
  type OpenedAccount,
  type OpenRefusal,
} from '@gateway/core'
import { sql, type Kysely } from 'kysely'
import { notifyOthers } from '../changes.ts'
import { LEDGER } from '../stored-codes.ts'
import { isTaken } from '../errors.ts'
import { timestamp } from '../sql/arrays.ts'
import type { Tables } from '../tables.ts'

/** In one transaction; of two that race for a user name the index lets one through. */
export async function openAccount(
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
  return parentRefusal(main && { parent: (main.parent_id ?? undefined) as AccountId | undefined })
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
  await transaction.selectNoFrom(notifyOthers.as('told')).execute()
  return id as AccountId
}
