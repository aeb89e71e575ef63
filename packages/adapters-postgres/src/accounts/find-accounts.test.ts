import { freshDatabase } from '../../testing/fresh-database.ts'
import { accessesOf } from '../../testing/plan.ts'
import { openPools } from '../pools.ts'
import { serverAddress } from '../server-address.ts'
import { defaultSettings, silent } from '../settings.ts'
import { findKey, findLogin } from '../sql/accounts.ts'

test.each(['findKey', 'findLogin'] as const)('%s reads one row of each table by an index', async (name) => {
  const database = await freshDatabase()
  const pools = openPools(serverAddress(database.connectionString), defaultSettings, silent)
  const hot = await pools.hot.connect()
  try {
    await hot.query(
      `with a as (insert into account (balance) select 0 from generate_series(1, 1000) returning id),
         d as (insert into directory (account_id, login, first_name, surname, transactional, created_at)
           select id, 'account-' || id, '', '', false, now() from a)
       insert into api_key (account_id, hash, prefix, label, issued_at) select id, 'hash-' || id, '', '', now() from a`,
      [],
    )
    const [{ login, hash }] = (
      await hot.query('select login, hash from directory join api_key using (account_id) limit 1', [])
    ).rows as [{ login: string; hash: string }]
    const accesses = await (name === 'findKey'
      ? accessesOf(hot, findKey, { hash })
      : accessesOf(hot, findLogin, { login }))
    expect(accesses.filter(({ rows, whole }) => whole || rows > 1)).toEqual([])
    expect(accesses.map(({ table }) => table)).toEqual(expect.arrayContaining(['account', 'directory']))
  } finally {
    hot.release()
    await pools.close(1)
    await database.drop()
  }
})
