import type { Client } from 'pg'

/** A send may have 10,000 numbers, of 12 bytes each. */
const pieceRows = 500

/**
 * Copies the rows of a table, as texts, in the transactions of both; `told` is called after each piece with how many are there. Accounts
 * go in the order of their ids, so that a main account is there before its sub accounts.
 */
export async function copyTable(
  source: Client,
  target: Client,
  table: string,
  told: (rows: number) => void,
): Promise<number> {
  const order = table === 'account' ? 'order by id' : ''
  await source.query(`declare piece no scroll cursor for select t::text as row from ${table} t ${order}`)
  let count = 0
  for (;;) {
    const { rows } = await source.query<{ row: string }>(`fetch ${pieceRows} from piece`)
    if (rows.length === 0) break
    await target.query(
      `insert into ${table} overriding system value
       select (r.row).* from (select u::${table} as row from unnest($1::text[]) u offset 0) r`,
      [rows.map(({ row }) => row)],
    )
    count += rows.length
    told(count)
  }
  await source.query('close piece')
  return count
}
