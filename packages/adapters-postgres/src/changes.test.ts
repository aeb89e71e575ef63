import { Client } from 'pg'
import type { KeyHash, KeyId } from '@gateway/core/accounts'
import { credits } from '@gateway/core/credits'
import type { Instant } from '@gateway/core/time'
import { aPasswordHash, anAccount, until } from '@gateway/core/testing'
import { freshDatabase, type FreshDatabase } from '../testing/fresh-database.ts'
import { postgresPorts, type PostgresPorts } from './postgres-ports.ts'

/** Cached values do not expire during a test, so a change becomes visible only by a notification. */
const settings = { cacheSeconds: 3600 }
const now = 1_700_000_000_000 as Instant

let database: FreshDatabase
let one: PostgresPorts
let other: PostgresPorts
let client: Client

beforeEach(async () => {
  database = await freshDatabase()
  one = postgresPorts({ connectionString: database.connectionString, settings })
  other = postgresPorts({ connectionString: database.connectionString, settings })
  client = new Client({ connectionString: database.connectionString })
  await client.connect()
})
afterEach(async () => {
  await Promise.all([one.close(), other.close(), client.end()])
  await database.drop()
})

async function issued(hash: string): Promise<{ hash: KeyHash; key: KeyId }> {
  const { id } = await anAccount(one.ports)
  const key = await one.ports.accounts.issueKey(
    id,
    { hash: hash as KeyHash, prefix: 'p', label: 'l', expires: undefined, from: [] },
    now,
  )
  if (typeof key !== 'number') throw new Error('no key')
  return { hash: hash as KeyHash, key }
}

const opens = async ({ ports }: PostgresPorts, hash: KeyHash) => (await ports.accounts.byKey(hash, now)) !== undefined

test('a key that one process revokes is refused by another', async () => {
  const { hash, key } = await issued('a')
  expect(await opens(other, hash)).toBe(true)
  await one.ports.accounts.revokeKey(key, now)
  expect(await opens(one, hash)).toBe(false)
  await until(async () => !(await opens(other, hash)))
})

test('a key works in every process as soon as it is issued, also where it was unknown before', async () => {
  expect(await opens(other, 'b' as KeyHash)).toBe(false)
  const { hash } = await issued('b')
  expect(await opens(other, hash)).toBe(true)
})

test('a lock and a new password take effect in another process', async () => {
  const { id, login } = await anAccount(one.ports)
  expect(await other.ports.accounts.byLogin(login)).toMatchObject({ account: { locked: false }, password: undefined })
  await one.ports.accounts.setLocked(id, true)
  await until(async () => (await other.ports.accounts.byLogin(login))?.account.locked)
  await one.ports.accounts.setPassword(id, aPasswordHash('hash'))
  await until(async () => (await other.ports.accounts.byLogin(login))?.password === 'hash')
})

test('a price that one process sets or removes takes effect in another', async () => {
  expect((await other.ports.prices.table()).size).toBe(1)
  await one.ports.prices.set('27', credits(25))
  await until(async () => (await other.ports.prices.table()).get('27') === 25)
  await one.ports.prices.remove('27')
  await until(async () => (await other.ports.prices.table()).size === 1)
})

test('a change during a lost connection takes effect when the process listens again', async () => {
  const { hash, key } = await issued('c')
  expect(await opens(other, hash)).toBe(true)
  await until(async () => {
    const ended = await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'gateway changes'`,
    )
    return (ended.rowCount ?? 0) >= 1
  })
  await client.query('update api_key set revoked_at = now() where id = $1', [key])
  await until(async () => !(await opens(other, hash)))
})

test('a change without a notification takes effect when the cached value expires', async () => {
  const { hash, key } = await issued('d')
  const forgetful = postgresPorts({ connectionString: database.connectionString, settings: { cacheSeconds: 0.3 } })
  expect(await opens(forgetful, hash)).toBe(true)
  await client.query('update api_key set revoked_at = now() where id = $1', [key])
  await until(async () => !(await opens(forgetful, hash)))
  await forgetful.close()
})

test('a process without a cache sees a change at once', async () => {
  const { hash, key } = await issued('e')
  const command = postgresPorts({ connectionString: database.connectionString, settings: { cacheSeconds: 0 } })
  expect(await opens(command, hash)).toBe(true)
  await client.query('update api_key set revoked_at = now() where id = $1', [key])
  expect(await opens(command, hash)).toBe(false)
  await command.close()
})

test('a log-in name is found in any letter case, for ASCII letters only', async () => {
  const { id } = await anAccount(one.ports, { login: 'Kim' })
  expect((await one.ports.accounts.byLogin('KIM'))?.account.id).toBe(id)
  // U+212A becomes a k in lower case, but is not ASCII.
  expect(await one.ports.accounts.byLogin('\u212Aim')).toBeUndefined()
})
