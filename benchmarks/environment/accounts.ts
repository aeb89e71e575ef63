import { createHash } from 'node:crypto'
import type { Database } from './postgres.ts'

export interface Account {
  readonly id: number
  readonly key: string
}

/** Balance of each account in tenths of a credit, more than a benchmark can spend. */
const balance = 1e13

/** Returns the API key of an account. Only digests of keys are stored, so any text can be a key. */
const keyOf = (id: number): string => `gw_benchmark-key-of-account-${id}`

/** Inserts main accounts with large balances directly into the tables. */
export async function openAccounts(database: Database, count: number): Promise<Account[]> {
  const rows = await database.query<{ id: number }>(
    `with a as (insert into account (balance) select $2::bigint from generate_series(1, $1::int) returning id),
      d as (insert into directory (account_id, login, first_name, surname, transactional, created_at)
        select id, 'benchmark-' || id, 'Bench', 'Mark', false, now() from a),
      l as (insert into ledger (account_id, kind, amount, why) select id, 1, $2::bigint, 'opened' from a)
    select id from a order by id`,
    [count, balance],
  )
  const accounts = rows.map(({ id }) => ({ id, key: keyOf(id) }))
  await database.query(
    `insert into api_key (account_id, hash, prefix, label, issued_at) select u.id, u.hash, 'gw_ben', 'benchmark', now()
    from unnest($1::int[], $2::text[]) u(id, hash)`,
    [accounts.map(({ id }) => id), accounts.map(({ key }) => createHash('sha256').update(key).digest('hex'))],
  )
  return accounts
}
