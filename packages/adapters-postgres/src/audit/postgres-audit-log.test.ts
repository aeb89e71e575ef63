import type { AuditLog } from '@gateway/core/audit'
import pg from 'pg'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { postgresPorts, type PostgresPorts } from '../postgres-ports.ts'

let database: FreshDatabase
let postgres: PostgresPorts
let auditLog: AuditLog
let client: pg.Client

beforeEach(async () => {
  database = await freshDatabase()
  postgres = postgresPorts({ connectionString: database.connectionString })
  auditLog = postgres.ports.auditLog
  client = new pg.Client(database.connectionString)
  await client.connect()
  for (const account of [1, 2, 3]) {
    await auditLog.begin({ by: 'ann@alpha', from: 'command line' }, { action: 'lockAccount', given: { account } })
  }
})

afterEach(async () => {
  await client.end()
  await postgres.close()
  await database.drop()
})

test.each([
  ['a changed record', `update audit_entry set record = replace(record, '2', '7') where sequence = 2`, 2],
  ['a changed time', `update audit_entry set at = at - interval '1 hour' where sequence = 2`, 2],
  ['a changed record whose hash was computed again', rehashed(2), 3],
  ['the last record, changed and its hash computed again', rehashed(3), 3],
  ['a removed first entry', 'delete from audit_entry where sequence = 1', 1],
  ['a removed entry', 'delete from audit_entry where sequence = 2', 2],
  ['a removed last entry', 'delete from audit_entry where sequence = 3', 3],
  ['all entries removed', 'delete from audit_entry', 1],
  ['two entries that changed places', 'update audit_entry set sequence = 7 - sequence where sequence > 2', 3],
  [
    'an entry that was slipped in',
    'insert into audit_entry select 4, at, ends, record, hash from audit_entry where sequence = 3',
    4,
  ],
])('%s is found', async (_, change, broken) => {
  const whole = await auditLog.check()
  expect(whole).toMatchObject({ entries: 3, broken: undefined })
  await client.query(change)
  expect((await auditLog.check()).broken).toBe(broken)
})

test('a log whose entries and head were all recalculated is detected by a hash noted earlier', async () => {
  const { hash } = await auditLog.check()
  await client.query(rehashed(3))
  await client.query(`update audit_head set hash = (select hash from audit_entry where sequence = 3)`)
  const check = await auditLog.check()
  expect(check.broken).toBeUndefined()
  expect(check.hash).not.toBe(hash)
})

test('characters that PostgreSQL does not store as text are recorded', async () => {
  const change = await auditLog.begin({ by: 'x\0y', from: '' }, { action: 'topUp', given: { why: 'a\0b\ud800' } })
  await auditLog.end(change, { outcome: 'done\0' })
  expect((await auditLog.list({ action: 'topUp' }, 1))[0]?.ended?.record).toBe('{"outcome":"done\ufffd"}')
  expect((await auditLog.check()).broken).toBeUndefined()
})

/** Changes a record and recalculates its own hash. */
function rehashed(sequence: number): string {
  return `update audit_entry entry set record = '{}', hash = sha256(convert_to(concat_ws(E'\\n',
    encode((select hash from audit_entry where sequence = ${sequence} - 1), 'hex'), sequence,
    floor(extract(epoch from at) * 1000)::bigint, '{}'), 'UTF8')) where sequence = ${sequence}`
}
