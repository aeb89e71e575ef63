import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { aNumber, anAccount, anOrder, numbers } from '@gateway/core/testing'
import { instant } from '@gateway/core/time'
import { fewer, fillDatabase } from '../../testing/filled-database.ts'
import { testServer } from '../../testing/fresh-database.ts'
import { acceptedIds, dispatchAll } from '../../testing/old-history.ts'
import { aReply, confirmation, inboxTexts } from '../../testing/replies.ts'
import { postgresPorts, type PostgresPorts } from '../postgres-ports.ts'
import { copyDatabase } from './copy-database.ts'
import { columnsOf, sequencesOf, tablesOf } from './whole-database.ts'

const server = testServer()
const urlOf = (name: string) => server.replace('/gateway?', `/${name}?`)
let names: readonly string[]
let from: string
let to: string
const open: PostgresPorts[] = []

beforeEach(async () => {
  names = [1, 2].map(() => `copy_${randomUUID().replaceAll('-', '')}`)
  const [source = '', target = ''] = names
  await queryAt(server, `create database ${source}`)
  await queryAt(server, `create database ${target}`)
  from = urlOf(source)
  to = urlOf(target)
  await ports(from).migrate()
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close(1)))
  for (const name of names) await queryAt(server, `drop database ${name} with (force)`)
})

function ports(url: string): PostgresPorts {
  const made = postgresPorts({ connectionString: url })
  open.push(made)
  return made
}

async function queryAt(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

const copy = () => copyDatabase({ from, to, progress: () => undefined, unlessEnded: () => undefined })

/** Returns a digest of each table and sequence. */
async function contents(url: string): Promise<Readonly<Record<string, unknown>>> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(`set timezone = 'UTC'`)
  const found: Record<string, unknown> = {}
  for (const table of await tablesOf(client)) {
    const { rows } = await client.query(
      `select count(*), md5(string_agg(t::text, '|' order by t::text)) from ${table} t`,
    )
    if ((rows[0] as { count: string }).count !== '0') found[table] = [await columnsOf(client, table), rows]
  }
  for (const sequence of await sequencesOf(client)) {
    found[sequence] = (await client.query(`select last_value, is_called from ${sequence}`)).rows
  }
  await client.end()
  return found
}

test('every row of every table and every sequence is copied unchanged', async () => {
  await fillDatabase(from, fewer)
  await queryAt(from, `update dispatcher set lease_until = now() - interval '1 minute'`)
  const copied = await copy()
  expect(copied.find(({ table }) => table === 'message_p0')).toEqual({ table: 'message_p0', rows: fewer.history.count })
  expect(await contents(to)).toEqual(await contents(from))
})

test('the target continues: balances, statuses, replies, and ids that were never used', async () => {
  const before = ports(from)
  const { id } = await anAccount(before.ports)
  const sent = await acceptedIds(before.ports, anOrder(id, { to: numbers(3) }))
  await dispatchAll(before.ports)
  await before.ports.inbox.receive([aReply({ from: aNumber() })], confirmation)
  const balance = await before.ports.ledger.balance(id)
  await Promise.all(open.splice(0).map((each) => each.close(1)))
  await copy()
  const after = ports(to)
  expect(await after.ports.ledger.balance(id)).toEqual(balance)
  expect((await after.ports.messages.status(id, sent, instant(0))).length).toBe(3)
  expect(await inboxTexts(after.ports, id)).toHaveLength(1)
  const next = await acceptedIds(after.ports, anOrder(id, { to: numbers(3) }))
  expect(Math.min(...next)).toBeGreaterThan(Math.max(...sent))
  await dispatchAll(after.ports)
})

test('a source in use is refused with the names of its users', async () => {
  const used = ports(from)
  await used.ping()
  await expect(copy()).rejects.toThrow('Processes of the gateway use the database (gateway')
  await Promise.all(open.splice(0).map((each) => each.close(1)))
  await queryAt(from, `insert into dispatcher (id, lease_until) values (1, now() + interval '1 minute')`)
  await expect(copy()).rejects.toThrow('A dispatcher has a lease')
})

test('a target with any row is refused, and is empty after a failed copy', async () => {
  await expect(
    copyDatabase({ from, to: from, progress: () => undefined, unlessEnded: () => undefined }),
  ).rejects.toThrow('The target is the same database as the source')
  const ended = copyDatabase({
    from,
    to,
    progress: () => undefined,
    unlessEnded: () => {
      throw new Error('ended')
    },
  })
  await expect(ended).rejects.toThrow('ended')
  await copy()
  await queryAt(to, 'insert into account (balance) values (0)')
  await expect(copy()).rejects.toThrow('The target is not empty: it has rows in account')
  await queryAt(to, 'drop table schema_migration')
  await expect(copy()).rejects.toThrow('tables of another application')
})
