import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { schemaOfThisVersion } from '@gateway/adapters-postgres'
import { anOperator } from '../../testing/operate.ts'

const folder = await mkdtemp(join(tmpdir(), 'gateway-backups-'))
const fileOf = (day: number) => join(folder, `gateway-202611${day}T080000Z.backup`)
const partial = `${fileOf(18)}.4711.partial`
afterAll(() => rm(folder, { recursive: true }))

/** Complete backup without tables. */
const made = '2026-11-18T08:00:00.000Z'
const head = `-- gateway backup 1 ${JSON.stringify({ made, columns: {}, migrations: schemaOfThisVersion() })}\n`
const sha256 = createHash('sha256').update(head).digest('hex')
const whole = join(folder, 'whole')
const changed = join(folder, 'changed')
await writeFile(whole, gzipSync(`${head}-- end ${JSON.stringify({ rows: {}, ledger: '', sha256 })}\n`))
await writeFile(changed, gzipSync(`${head}\n-- end ${JSON.stringify({ rows: {}, ledger: '', sha256 })}\n`))

const restored = { made: '2026-11-18T08:00:00.000Z', rows: 3, firstMessage: 10_000_000, accounts: 1 }
const create = (to: string, progress: (text: string) => void) => {
  progress('send: 1.0 MiB read')
  return Promise.resolve({ file: join(to, 'gateway-20261118T080000Z.backup'), bytes: 3 * 2 ** 20, rows: 3 })
}
const write = (to: Writable) => {
  to.write('a backup')
  return Promise.resolve({ bytes: 3 * 2 ** 20, rows: 3 })
}
const operatorWith = (differences: number) =>
  anOperator({ backups: { create, write, restore: () => Promise.resolve({ ...restored, differences }) } })

test('create prints the file, its rows and its size', async () => {
  const operator = operatorWith(0)
  expect(await operator.json('backup', 'create', '--to', '/backup')).toEqual({
    file: '/backup/gateway-20261118T080000Z.backup',
    bytes: 3 * 2 ** 20,
    copied: 3,
  })
  expect((await operator.run(['backup', 'create', '--to', '/backup'])).out).toBe(
    '/backup/gateway-20261118T080000Z.backup: 3 rows in 3.0 MiB.\n',
  )
  expect(await operator.run(['backup', 'create'])).toMatchObject({ code: 2 })
})

test('create to standard output writes only the backup there', async () => {
  const operator = operatorWith(0)
  const done = { code: 0, out: 'a backup', err: '3 rows in 3.0 MiB.\n' }
  expect(await operator.run(['backup', 'create', '--to', '-'])).toEqual(done)
  expect(await operator.run(['backup', 'create', '--to', '-', '--json'])).toMatchObject({ code: 2, out: '' })
  const gone = (to: Writable) => {
    to.emit('error', Object.assign(new Error('EPIPE'), { code: 'EPIPE' }))
    return Promise.reject(new Error('EPIPE'))
  }
  const cut = anOperator({ backups: { create, write: gone, restore: () => Promise.reject(new Error('not here')) } })
  const failure = { code: 1, err: 'Standard output was closed early. The backup is incomplete.\n' }
  expect(await cut.run(['backup', 'create', '--to', '-'])).toMatchObject(failure)
})

test('restore prints the first id and that the ledger adds up; otherwise it fails', async () => {
  const operator = operatorWith(0)
  expect(await operator.json('backup', 'restore', whole)).toEqual({
    made: restored.made,
    copied: 3,
    firstMessage: 10_000_000,
    verified: 1,
  })
  const { code, out } = await operator.run(['backup', 'restore', whole])
  expect(code).toBe(0)
  expect(out).toContain('3 rows restored, as of 2026-11-18T08:00:00.000Z. New messages get ids from 10000000 on.')

  const wrong = await operatorWith(1).run(['backup', 'restore', whole])
  expect(wrong).toMatchObject({ code: 1, err: 'The ledger and the balances of 1 account differ.\n' })
})

test('list names complete files, newest first; prune keeps the requested number and deletes incomplete files', async () => {
  const operator = anOperator()
  for (const day of [16, 18, 17]) await writeFile(fileOf(day), 'x')
  await writeFile(partial, 'x')
  await writeFile(join(folder, 'notes.txt'), 'x')
  expect(await operator.rows('backup', 'list', folder)).toEqual(
    [18, 17, 16].map((day) => ({ file: fileOf(day), made: `2026-11-${day}T08:00:00.000Z`, bytes: 1 })),
  )
  expect(await operator.json('backup', 'prune', folder, '--keep', '2')).toEqual({ kept: 2, deleted: 1 })
  expect(await readdir(folder)).toHaveLength(6)
  await utimes(partial, 1, 1)
  expect(await operator.json('backup', 'prune', folder, '--keep', '2')).toEqual({ kept: 2, deleted: 0 })
  expect((await readdir(folder)).toSorted()).toEqual(
    [...[17, 18].map((day) => `gateway-202611${day}T080000Z.backup`), 'changed', 'notes.txt', 'whole'].toSorted(),
  )
  expect(await operator.run(['backup', 'prune', folder, '--keep', '0'])).toMatchObject({ code: 2 })
  expect(await operator.run(['backup', 'list', join(folder, 'none')])).toMatchObject({ code: 1 })
})

test('verify prints the time of a file and refuses a changed one, for which restore opens no database', async () => {
  const operator = operatorWith(0)
  expect(await operator.row('backup', 'verify', whole)).toEqual({
    file: whole,
    made: restored.made,
    copied: 0,
    tables: [],
  })
  const refused = { code: 1, out: '', err: `${changed} was changed: its SHA-256 does not match.\n` }
  expect(await operator.run(['backup', 'verify', changed])).toEqual(refused)
  expect(await operator.run(['backup', 'restore', changed])).toEqual(refused)
})

test('a backup of another version is intact, but restore refuses it before a database is opened', async () => {
  const other = join(folder, 'other')
  const text = `-- gateway backup 1 ${JSON.stringify({ made, columns: {}, migrations: [] })}\n`
  const digest = createHash('sha256').update(text).digest('hex')
  await writeFile(other, gzipSync(`${text}-- end ${JSON.stringify({ rows: {}, ledger: '', sha256: digest })}\n`))
  const operator = anOperator({ backups: { create, write, restore: () => Promise.reject(new Error('not here')) } })
  expect((await operator.run(['backup', 'verify', other])).code).toBe(0)
  expect(await operator.run(['backup', 'restore', other])).toEqual({
    code: 1,
    out: '',
    err: `${other} was made by another version: restore it with that version, then upgrade.\n`,
  })
})
