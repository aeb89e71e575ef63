import { Client } from 'pg'
import { analyzeNearlyEmpty, filledDatabase } from '../testing/filled-database.ts'
import { freshDatabase, type FreshDatabase } from '../testing/fresh-database.ts'
import { cases, functions } from '../testing/hot-cases.ts'
import { accessesOf, scannedBy, type LentConnection } from '../testing/plan.ts'
import { openPools, type Pools } from './pools.ts'
import { serverAddress } from './server-address.ts'
import { defaultSettings, silent } from './settings.ts'

const small = new Set([
  'dispatcher',
  'carrier',
  'route',
  'queue',
  'id_block',
  'price',
  'login_secret',
  'smpp_accept',
  'smpp_process',
])
const partitionOf = (table: string) => /^(?:send|message|message_part)_p([0-9]+)$/.exec(table)?.[1]

describe.each(['empty', 'filled', 'filled and analyzed', 'analyzed when nearly empty and filled since'] as const)(
  'on tables that are %s',
  (state) => {
    const open = {} as { database: FreshDatabase; pools: Pools; hot: LentConnection }

    beforeAll(async () => {
      const database = await (state === 'empty' ? freshDatabase() : filledDatabase())
      const { connectionString } = database
      if (state === 'filled and analyzed') {
        const client = new Client({ connectionString })
        await client.connect()
        const { rows } = await client.query<{ tables: string }>(
          `select string_agg(relname, ', ') tables from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')`,
        )
        await client.query(`vacuum analyze ${rows[0]?.tables ?? ''}`)
        await client.end()
      }
      if (state === 'analyzed when nearly empty and filled since') await analyzeNearlyEmpty(connectionString)
      const pools = openPools(serverAddress(connectionString), defaultSettings, silent)
      Object.assign(open, { database, pools, hot: await pools.hot.connect() })
    }, 120_000)

    afterAll(async () => {
      open.hot.release()
      await open.pools.close(1)
      await open.database.drop()
    })

    test.each(Object.entries(cases))(
      '%s reads only what it needs, by an index',
      async (_, { statement, values, rowsMax, partitions = [1] }) => {
        const accesses = await accessesOf(open.hot, statement, values as never)
        expect(accesses.filter(({ table, whole }) => whole && !small.has(table))).toEqual([])
        if (state === 'empty') return
        const looked = [...new Set(accesses.map(({ table }) => partitionOf(table)))].filter(
          (found) => found !== undefined,
        )
        expect(looked.filter((partition) => !partitions.includes(Number(partition)))).toEqual([])
        expect(accesses.filter(({ table, rows }) => rows > rowsMax && !small.has(table))).toEqual([])
      },
    )

    test.each(Object.entries(functions))('%s reads no growing table from end to end', async (call, allowed) => {
      const scanned = await scannedBy(open.hot, call)
      expect(scanned.filter((table) => !allowed.includes(table))).toEqual([])
    })
  },
)
