import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import { createGzip, gunzipSync, gzipSync } from 'node:zlib'
import { Client } from 'pg'
import { aNumber, anAccount, anOrder } from '@gateway/core/testing'
import { testServer } from '../../testing/fresh-database.ts'
import { acceptedIds, dispatchAll } from '../../testing/old-history.ts'
import { aReply, confirmation } from '../../testing/replies.ts'
import { migrate } from '../migrate.ts'
import { postgresPorts, type PostgresPorts } from '../postgres-ports.ts'
import { backupFile } from './backup-format.ts'
import { createBackup, writeBackup } from './create-backup.ts'
import { restoreBackup, verifyBackup } from './restore-backup.ts'
import { columnsOf, sequencesOf, tablesOf } from './whole-database.ts'

const server = testServer()
const urlOf = (name: string) => server.replace('/gateway?', `/${name}?`)
const names = [1, 2].map(() => `backup_${randomUUID().replaceAll('-', '')}`)
const [from, to] = names.map(urlOf) as [string, string]
let folder: string
let gateway: PostgresPorts
let file: string
let before: Readonly<Record<string, unknown>>

async function on<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Returns the rows of all tables. */
const contents = (url: string) =>
  on(url, async (client) => {
    await client.query(`set timezone = 'UTC'`)
    const found: Record<string, unknown> = {}
    for (const table of await tablesOf(client)) {
      const text = `select count(*), md5(string_agg(t::text, '|' order by t::text)) from ${table} t`
      found[table] = [await columnsOf(client, table), (await client.query(text)).rows]
    }
    return found
  })

const sequences = (url: string) =>
  on(url, async (client) => {
    const found: unknown[] = []
    for (const sequence of await sequencesOf(client))
      found.push([sequence, (await client.query(`select last_value, is_called from ${sequence}`)).rows])
    return found
  })

const create = (between: () => void | Promise<void> = () => undefined) =>
  createBackup({ from, folder, progress: () => undefined, between })
const restore = (path = file) =>
  restoreBackup({ source: backupFile(path), to, progress: () => undefined, unlessEnded: () => undefined })
/** Counts the tables, sequences, types and functions of the target. */
const objects = () =>
  on(to, async (client) => {
    const { rows } = await client.query<{ count: number }>(`
      select (select count(*) from pg_class where relnamespace = current_schema()::regnamespace)::int +
        (select count(*) from pg_type where typnamespace = current_schema()::regnamespace)::int +
        (select count(*) from pg_proc where pronamespace = current_schema()::regnamespace)::int as count`)
    return rows[0]?.count
  })

/** Writes the backup with a changed text, whose digest is correct, and returns the path of the new file. */
async function rewritten(change: (text: string) => string): Promise<string> {
  const lines = change(gunzipSync(await readFile(file)).toString('latin1')).split('\n')
  const body = `${lines.slice(0, -2).join('\n')}\n`
  const sha256 = createHash('sha256').update(Buffer.from(body, 'latin1')).digest('hex')
  const last = (lines.at(-2) ?? '').replace(/"sha256":"[^"]*"/, `"sha256":"${sha256}"`)
  const path = join(folder, 'rewritten')
  await writeFile(path, gzipSync(Buffer.from(`${body}${last}\n`, 'latin1'), { level: 1 }))
  return path
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-backup-'))
  for (const name of names) await on(server, (client) => client.query(`create database ${name}`))
  await migrate(from)
  gateway = postgresPorts({ connectionString: from })
  const { id } = await anAccount(gateway.ports)
  const to = Array.from({ length: 50 }, () => aNumber())
  await acceptedIds(gateway.ports, anOrder(id, { to, text: 'tab\t, \\. and\n\\.\nline €' }))
  await dispatchAll(gateway.ports)
  await gateway.ports.inbox.receive([aReply({ text: '\\.\n\\N' })], confirmation)
  before = await contents(from)
  // Accepted during the backup, so it must not be included.
  let accepted = false
  const made = await create(async () => {
    if (accepted) return
    accepted = true
    await gateway.ports.messages.accept(anOrder(id, { to: [aNumber()] }))
  })
  file = made.file
}, 120_000)
afterAll(async () => {
  await gateway.close(1)
  for (const name of names) await on(server, (client) => client.query(`drop database if exists ${name} with (force)`))
  await rm(folder, { recursive: true })
})

test('a backup is complete, only its owner may read it, and no other file is left', async () => {
  expect(await readdir(folder)).toEqual([file.split('/').at(-1)])
  expect(file).toMatch(/gateway-\d{8}T\d{6}Z\.backup$/)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await verifyBackup(backupFile(file))).rows).toBeGreaterThan(50)
})

test('a truncated or altered file, or one that is not a backup, is refused before anything is written', async () => {
  const whole = await readFile(file)
  const text = gunzipSync(whole).toString('latin1')
  const packed = (changed: string) => gzipSync(Buffer.from(changed, 'latin1'), { level: 1 })
  const row = /^COPY send_p0 .*\n(.)/m.exec(text)?.[1] ?? ''
  const bad: readonly (readonly [Buffer, string])[] = [
    [whole.subarray(0, whole.length / 2), 'is cut off'],
    [whole.subarray(0, whole.length - 4), 'is cut off'],
    [Buffer.from(whole.map((byte, at) => (at === 3000 ? byte ^ 1 : byte))), 'was changed'],
    [packed(text.replace(/^(COPY send_p0 .*\n)./m, `$1${row === '9' ? '8' : '9'}`)), 'was changed: its SHA-256'],
    [packed(text.replace(/^(COPY send_p0 .*\n).*\n/m, '$1')), 'was changed: its SHA-256'],
    [packed(text.split('\n').slice(0, -2).join('\n')), 'is cut off: it has no last line'],
    [packed(`${text}more\n`), 'was changed: something comes after its end'],
    [packed('-- something else\n'), 'is not a backup of the gateway'],
    [Buffer.from('plain text'), 'was changed, or is not a backup'],
  ]
  for (const [content, why] of bad) {
    const path = join(folder, 'bad')
    await writeFile(path, content)
    await expect(restore(path)).rejects.toThrow(why)
  }
  await rm(join(folder, 'bad'))
  await expect(restore(join(folder, 'none'))).rejects.toThrow('cannot be read (ENOENT)')
  expect(await objects()).toBe(0)
})

test('a line or row of a gigabyte is refused as soon as it exceeds the limit', async () => {
  const endless = (start: string) => {
    const zeros = Buffer.alloc(2 ** 20, '0')
    let remaining = 1024
    const pieces = (function* () {
      yield Buffer.from(start)
      while (remaining-- > 0) yield zeros
    })()
    const read = () => Readable.from(pieces, { objectMode: false }).pipe(createGzip({ level: 1 }))
    return { source: { name: 'It', read }, remaining: () => remaining }
  }
  const head = `-- gateway backup 1 ${JSON.stringify({ made: '', columns: {} })}\n`
  for (const start of ['', '-- gateway backup 1 ', head, `${head}COPY send (body) FROM stdin;\n`]) {
    const { source, remaining } = endless(start)
    await expect(verifyBackup(source)).rejects.toThrow('It is not a backup of the gateway: a line has over')
    expect(remaining()).toBeGreaterThan(600)
  }
})

test('reading stops at once when it is aborted, even while no data arrives', async () => {
  const interruption = new AbortController()
  const read = () => new PassThrough()
  const verified = verifyBackup({ name: 'It', read }, { signal: interruption.signal })
  setImmediate(() => interruption.abort())
  await expect(verified).rejects.toThrow('interrupted')
})

test('a backup of another version is refused, and nothing is created', async () => {
  const path = await rewritten((text) => text.replace(/("digest":")./, '$1x'))
  await verifyBackup(backupFile(path))
  await expect(restore(path)).rejects.toThrow('was made by another version')
  await rm(path)
  expect(await objects()).toBe(0)
})

test.each<[title: string, change: (text: string) => string, why: string]>([
  ['a value of another type', (text) => text.replace(/^(COPY account .*\n)/m, '$1x'), 'invalid input syntax'],
  ['a row twice', (text) => text.replace(/^(COPY message_p\d+ .*\n)(\d.*\n)\d.*\n/m, '$1$2$2'), 'duplicate key'],
  ['another ledger', (text) => text.replace(/^(-- end .*"ledger":"\[)/m, '$1{},'), 'the ledger differs'],
])('a backup with %s is refused, and nothing is created', async (_, change, why) => {
  const path = await rewritten(change)
  await verifyBackup(backupFile(path))
  await expect(restore(path)).rejects.toThrow(why)
  await rm(path)
  expect(await objects()).toBe(0)
})

test('a restore fills an empty database with all rows and sequences of the snapshot, and refuses a filled one', async () => {
  await restore()
  expect(await contents(to)).toEqual(before)
  // Sequences are at least as far as in the snapshot, so that no number is used twice.
  expect(await sequences(to)).toEqual(await sequences(from))
  await expect(restore()).rejects.toThrow('The target is not empty')
})

test('a backup to a stream is the same, leaves the stream open, and is aborted if nobody reads it', async () => {
  const pieces: Buffer[] = []
  const to = new PassThrough().on('data', (piece: Buffer) => pieces.push(piece))
  const options = { from, progress: () => undefined, between: () => undefined }
  const { bytes, rows } = await writeBackup({ ...options, to })
  expect(to.writable).toBe(true)
  const whole = Buffer.concat(pieces)
  expect(whole).toHaveLength(bytes)
  const read = () => Readable.from(whole, { objectMode: false })
  expect((await verifyBackup({ name: 'it', read })).rows).toBe(rows)

  const gone = new Writable({ write: (_piece, _encoding, done) => done(new Error('EPIPE')) })
  await expect(writeBackup({ ...options, to: gone })).rejects.toThrow('EPIPE')
})

test('a backup that is aborted leaves nothing', async () => {
  const there = await readdir(folder)
  await expect(create(() => { throw new Error('ended') })).rejects.toThrow('ended') // prettier-ignore
  expect(await readdir(folder)).toEqual(there)
})

test('psql can restore a backup without the gateway, into a schema of the same version', async () => {
  const psql = await promisify(execFile)('psql', ['--version']).catch(() => undefined)
  if (psql === undefined) return void process.stderr.write('NOT TESTED, psql on a backup: there is no psql here\n')
  await on(server, async (client) => {
    await client.query(`drop database ${names[1]} with (force)`)
    await client.query(`create database ${names[1]}`)
  })
  await migrate(to)
  await promisify(execFile)('sh', ['-c', 'gzip -dc "$1" | psql -q -v ON_ERROR_STOP=1 "$2"', 'sh', file, to])
  expect(await contents(to)).toEqual(before)
})
