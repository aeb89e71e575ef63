import { createHash } from 'node:crypto'
import { Client } from 'pg'
import { analyzeNearlyEmpty, fillDatabase, filled } from '../testing/filled-database.ts'
import { freshDatabase, type FreshDatabase } from '../testing/fresh-database.ts'
import { accessesOf, scannedBy, type LentConnection } from '../testing/plan.ts'
import { openPools, type Pools } from './pools.ts'
import { defaultSettings, silent } from './settings.ts'
import { accept } from './sql/accept.ts'
import { applyReceipts, knownReceipts, newestPartition } from './sql/apply-receipts.ts'
import { arrayOf } from './sql/arrays.ts'
import { chooseSenders, chosenSenders } from './sql/choose-senders.ts'
import { claimBulk } from './sql/claim-bulk.ts'
import { claimSingle } from './sql/claim-single.ts'
import { expire } from './sql/expire.ts'
import { extend } from './sql/extend.ts'
import { addSenders, findSenders, senderAddresses } from './sql/find-senders.ts'
import type { HotStatement } from './sql/hot-statement.ts'
import { putBack, takeInbox } from './sql/inbox.ts'
import { keepReceipts } from './sql/keep-receipts.ts'
import { findSends } from './sql/lost-answer.ts'
import { mark } from './sql/mark.ts'
import { matchReceipts } from './sql/match-receipts.ts'
import { matchingSuppressions } from './sql/matching-suppressions.ts'
import { arrayOfTexts } from './sql/null-arrays.ts'
import { postpone } from './sql/postpone.ts'
import { promote } from './sql/promote.ts'
import { lockAccount, readAccount, readBalances } from './sql/read-account.ts'
import { findNoted, findWaitingParts, noteArrivals, takeOldParts } from './sql/receive.ts'
import { recordLate } from './sql/record-late.ts'
import { record } from './sql/record.ts'
import { refuseLate } from './sql/refuse-late.ts'
import { register } from './sql/register.ts'
import { settle } from './sql/settle.ts'
import { coveringSends, findOutcomes } from './sql/status.ts'

interface Case {
  readonly statement: HotStatement<unknown>
  readonly values: readonly unknown[]
  /** Rows that it may read of any one table, where all are filled. */
  readonly rowsMax: number
  /** Partitions that it may look into. Default: the newest one only. */
  readonly partitions?: readonly number[]
}

const ids = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)
const of = (value: number | string, count: number) => arrayOf(ids(0, count).map(() => value))
const numbers = (of: readonly number[]) => arrayOf(of.map((id) => 27800000000 + id))
const references = (of: readonly number[]) => arrayOfTexts(of.map((id) => `r${id}`))
const keys = (kind: string, count: number) =>
  ids(1, count).map((i) => createHash('md5').update(`${kind}${i}`).digest('hex'))
const longAgo = '2001-01-01T00:00:00Z'
const flying = ids(filled.flying.from, 100)
const sent = ids(filled.sent.from, 500)
const fresh = ids(5_500_001, 100)

const recorded = (codes: string) => [
  1,
  '{}',
  of(1, 100),
  arrayOf(flying),
  numbers(flying),
  references(flying),
  of(1, 100),
  arrayOf(flying),
  codes,
  of(1, 100),
]

const cases: Readonly<Record<string, Case>> = {
  accept: {
    statement: accept,
    values: [
      arrayOf(fresh.map((id) => 1 + (id % 200))),
      arrayOf(fresh),
      of(1, 100),
      of(10, 100),
      of(1, 100),
      of('hello', 100),
      of('"{27820000000}"', 100),
      of('null', 100),
      of(1, 100),
    ],
    rowsMax: 200,
    partitions: [],
  },
  'read-account': { statement: readAccount, values: [1], rowsMax: 1 },
  'lock-account': { statement: lockAccount, values: [1], rowsMax: 1 },
  'read-balances': { statement: readBalances, values: [arrayOf(ids(1, 50))], rowsMax: 50 },
  // Rare: after a lost answer.
  'find-sends': { statement: findSends, values: [arrayOf(sent)], rowsMax: 500, partitions: [0, 1, 2, 3] },
  'find-outcomes': {
    statement: findOutcomes,
    values: [1, `{"${arrayOf(sent)}"}`, arrayOf([Math.min(...sent)]), arrayOf([Math.max(...sent)])],
    rowsMax: 500,
  },
  'covering-sends': { statement: coveringSends, values: [1, arrayOf(sent)], rowsMax: 500 },
  'matching-suppressions': {
    statement: matchingSuppressions,
    values: [of(1, 100), numbers(ids(1, 100))],
    rowsMax: 200,
  },
  register: { statement: register, values: [30, '1.2.3'], rowsMax: 0 },
  extend: { statement: extend, values: [1, 30], rowsMax: 1 },
  'claim-single': { statement: claimSingle, values: [1, 2, 0, 64, 500, 200, 30, 1], rowsMax: 2000 },
  'claim-bulk': { statement: claimBulk, values: [1, 2, 0, 16, 500, 200, 30, 1], rowsMax: 100 },
  mark: { statement: mark, values: [1, 1, 400], rowsMax: 1 },
  record: {
    statement: record,
    values: [
      1,
      '{}',
      of(1, 100),
      arrayOf(flying),
      numbers(flying),
      references(flying),
      '{1}',
      '{1}',
      `{${flying[0]}}`,
      '{1}',
      '{1}',
      '{1}',
      '{400}',
    ],
    rowsMax: 100,
  },
  'record-late': {
    statement: recordLate,
    values: recorded(arrayOf(ids(0, 100).map((i) => [100, 106, 111][i % 3] ?? 0))),
    rowsMax: 100,
  },
  settle: { statement: settle, values: [1, 1, arrayOf(flying), of(101, 100)], rowsMax: 100 },
  postpone: { statement: postpone, values: [1, 1, arrayOf(flying), 60], rowsMax: 100 },
  'refuse-late': { statement: refuseLate, values: [arrayOf(sent)], rowsMax: 500 },
  promote: { statement: promote, values: [0, 100, 100], rowsMax: 600 },
  expire: { statement: expire, values: [-3600, 100], rowsMax: 700 },
  'newest-partition': { statement: newestPartition, values: [], rowsMax: 1 },
  'apply-receipts': { statement: applyReceipts(1), values: [references(sent), of(0, 500), 1], rowsMax: 500 },
  'known-receipts': { statement: knownReceipts(1), values: [references(sent), of(100, 500), 1], rowsMax: 500 },
  'keep-receipts': {
    statement: keepReceipts,
    values: [references(sent), of(0, 500), 1, numbers(sent), of('null', 500)],
    rowsMax: 0,
  },
  'find-senders': { statement: findSenders, values: ['{12025551001,none}'], rowsMax: 2 },
  'add-senders': { statement: addSenders, values: ['{12025551001,none}'], rowsMax: 2 },
  'sender-addresses': { statement: senderAddresses, values: ['{1,2}'], rowsMax: 2 },
  'chosen-senders': { statement: chosenSenders, values: [of(1, 100), numbers(ids(1, 100))], rowsMax: 100 },
  'choose-senders': { statement: chooseSenders, values: [4, numbers(ids(4950, 100)), '{1,2,3,4}'], rowsMax: 100 },
  'note-arrivals': { statement: noteArrivals, values: [arrayOf(keys('k', 100)), keys('o', 1)[0]], rowsMax: 100 },
  'find-noted': { statement: findNoted, values: [arrayOf(keys('k', 100)), keys('o', 1)[0]], rowsMax: 100 },
  'find-waiting-parts': { statement: findWaitingParts, values: [arrayOf(keys('p', 100))], rowsMax: 100 },
  'take-old-parts': { statement: takeOldParts, values: [60, 100], rowsMax: 100 },
  'take-all': { statement: takeInbox.all, values: [1, longAgo, 100, keys('n', 1)[0]], rowsMax: 100 },
  'take-replies': { statement: takeInbox.replies, values: [1, longAgo, 100, keys('n', 1)[0]], rowsMax: 100 },
  'take-short-code': { statement: takeInbox['short-code'], values: [1, longAgo, 100, keys('n', 1)[0]], rowsMax: 100 },
  'put-back': { statement: putBack, values: [1, keys('t', 1)[0]], rowsMax: 1 },
  'match-receipts': { statement: matchReceipts, values: [200], rowsMax: 600, partitions: [0, 1, 2, 3] },
}

/** Calls of functions, and what they may read whole: tables that stay small. */
const functions: Readonly<Record<string, readonly string[]>> = {
  'select * from release_flights(1, 1)': [],
  'select retire(2)': [],
  "update dispatcher set lease_until = now() - interval '1 hour' where id < 5; select * from recover()": ['dispatcher'],
  'select disown(1, 1)': [],
  "select * from delete_waiting(1, array(select generate_series(5100002, 5101000, 2)), now() - interval '90 days', gen_random_uuid())":
    [],
  'select transfer_credits(2, 1, 10, now(), gen_random_uuid())': [],
  "select * from add_parts(array[md5('p1')::uuid, md5('p2')::uuid], '{x,y}', '{1,2}', '{2,2}', '{a,b}')": [],
  "select drop_inbox(now() - interval '90 days', 730)": [],
  'select adopt(0)': ['orphan_receipt', 'flight'],
  "select * from drop_block(530, now() + interval '1 day')": ['flight'],
  "select receive_texts('{1,1,1}', '{27805300001,27805200001,x}', '{27805300001,27805200001,null}', '{12025551001,null,null}', '{stop,b,c}', '{1,0,0}', '{5500001}', 'bye', 1::smallint)":
    ['flight'],
}

const small = new Set(['dispatcher', 'carrier', 'id_block', 'price'])
const partitionOf = (table: string) => /^(?:send|message)_p([0-9]+)$/.exec(table)?.[1]

describe.each(['empty', 'filled', 'filled and analyzed', 'analyzed when nearly empty and filled since'] as const)(
  'on tables that are %s',
  (state) => {
    const open = {} as { database: FreshDatabase; pools: Pools; hot: LentConnection }

    beforeAll(async () => {
      const database = await freshDatabase()
      const { connectionString } = database
      if (state !== 'empty') await fillDatabase(connectionString)
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
      const pools = openPools(connectionString, defaultSettings, silent)
      Object.assign(open, { database, pools, hot: await pools.hot.connect() })
    }, 120_000)

    afterAll(async () => {
      open.hot.release()
      await open.pools.close(1)
      await open.database.drop()
    })

    test.each(Object.entries(cases))(
      '%s reads what it needs, by index',
      async (_, { statement, values, rowsMax, partitions = [1] }) => {
        const accesses = await accessesOf(open.hot, statement, values)
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
