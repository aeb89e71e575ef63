import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Client } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { endMark, headMark, type BackupEnd, type BackupHead } from './backup-format.ts'
import { flushFile, flushFolder } from './backup-folder.ts'
import {
  columnsOf,
  connectionOf,
  ledgerOf,
  migrationsOf,
  namesOf,
  partitionOf,
  plainText,
  sequencesOf,
  tablesOf,
} from './whole-database.ts'

export interface WriteOptions {
  readonly from: string
  /** Called from time to time with the table being read and the number of bytes read so far. */
  readonly progress: (table: string, bytes: number) => void
  /**
   * Called before each piece. Throws or rejects to abort the backup, which then leaves nothing, or waits to slow it
   * down.
   */
  readonly between: () => void | Promise<void>
}

export interface CreateOptions extends WriteOptions {
  /** Folder for the file. Created if it does not exist. */
  readonly folder: string
}

export interface WrittenBackup {
  readonly bytes: number
  readonly rows: number
}

export interface CreatedBackup extends WrittenBackup {
  readonly file: string
}

/**
 * Writes a snapshot of the whole database to one file, such as `gateway-20261118T080000Z.backup` by the database's
 * time, while all processes keep working. The file gets its name when it is complete and flushed to the disk. It
 * contains phone numbers, message texts, and secrets as they are stored, so only the user of this process may read it.
 */
export async function createBackup({ folder, ...options }: CreateOptions): Promise<CreatedBackup> {
  return onSnapshot(options.from, async (source, head) => {
    await mkdir(folder, { recursive: true })
    const file = join(folder, `gateway-${head.made.replace(/[-:]|\.\d+/g, '')}.backup`)
    const partial = `${file}.${process.pid}.partial`
    try {
      const written = await write(source, head, createWriteStream(partial, { mode: 0o600, flags: 'w' }), options)
      await flushFile(partial)
      await rename(partial, file)
      await flushFolder(folder)
      return { file, ...written }
    } catch (error) {
      await rm(partial, { force: true })
      throw error
    }
  })
}

/** Writes a backup to a stream, which stays open. A failed backup lacks its end, which every reader notices. */
export const writeBackup = ({ to, ...options }: WriteOptions & { readonly to: Writable }): Promise<WrittenBackup> =>
  onSnapshot(options.from, (source, head) => write(source, head, to, options, { end: false }))

async function onSnapshot<T>(from: string, work: (source: Client, head: BackupHead) => Promise<T>): Promise<T> {
  const source = connectionOf(from, 'gateway backup')
  try {
    await source.connect()
    await source.query(plainText)
    await source.query('begin isolation level repeatable read read only')
    return await work(source, await headOf(source))
  } finally {
    await source.end().catch(() => undefined)
  }
}

async function write(
  source: Client,
  head: BackupHead,
  to: Writable,
  { progress, between }: WriteOptions,
  { end = true } = {},
): Promise<WrittenBackup> {
  const rows: Record<string, number> = {}
  let bytes = 0
  await pipeline(
    Readable.from(textOf(source, head, rows, progress, between), { objectMode: false }),
    // A low level, because four times the work saves only a tenth of the size.
    createGzip({ level: 3 }),
    async function* (packed: AsyncIterable<Buffer>) {
      for await (const piece of packed) {
        bytes += piece.length
        yield piece
      }
    },
    to,
    { end },
  )
  return { bytes, rows: Object.values(rows).reduce((sum, count) => sum + count, 0) }
}

async function headOf(source: Client): Promise<BackupHead> {
  const tables = await tablesOf(source)
  // Prevents partitions from being dropped during the backup. Retention tries again later.
  await source.query(`lock table ${tables.join(', ')} in access share mode`)
  const { rows } = await source.query<{ made: string; server: string }>(
    `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') made, current_setting('server_version') server`,
  )
  const columns: Record<string, string> = {}
  for (const table of tables) columns[table] = (await columnsOf(source, table)) ?? ''
  const migrations = await migrationsOf(source)
  return { made: rows[0]?.made ?? '', server: rows[0]?.server ?? '', migrations, columns }
}

async function* textOf(
  source: Client,
  head: BackupHead,
  counts: Record<string, number>,
  progress: WriteOptions['progress'],
  between: WriteOptions['between'],
): AsyncIterable<Buffer> {
  const hash = createHash('sha256')
  let bytes = 0
  const hashed = (piece: Buffer): Buffer => {
    hash.update(piece)
    bytes += piece.length
    return piece
  }
  const text = (lines: string): Buffer => hashed(Buffer.from(`${lines}\n`))
  const tables = Object.keys(head.columns)
  yield text(`${headMark}${JSON.stringify(head)}`)
  yield text('begin;')
  for (const table of tables) {
    const partition = partitionOf(table)
    if (partition !== undefined) yield text(`select add_partition(${partition});`)
  }
  yield text(`truncate ${tables.join(', ')};`)
  for (const table of tables) {
    const names = await namesOf(source, table)
    yield text(`COPY ${table} (${names}) FROM stdin;`)
    // Sort accounts by id, so that a main account precedes its sub accounts.
    const rows = table === 'account' ? `(select ${names} from account order by id)` : `${table} (${names})`
    const copy = source.query(copyTo(`copy ${rows} to stdout`))
    for await (const piece of copy as AsyncIterable<Buffer>) {
      await between()
      progress(table, bytes)
      yield hashed(piece)
    }
    counts[table] = copy.rowCount
    yield text('\\.')
  }
  for (const sequence of await sequencesOf(source)) {
    const { rows } = await source.query<{ last: string; called: boolean }>(
      `select last_value::text last, is_called called from ${sequence}`,
    )
    yield text(`select setval('${sequence}', ${rows[0]?.last ?? '1'}, ${rows[0]?.called ?? false});`)
  }
  const end: BackupEnd = { rows: counts, ledger: await ledgerOf(source), sha256: '' }
  yield text('commit;')
  yield Buffer.from(`${endMark}${JSON.stringify({ ...end, sha256: hash.digest('hex') })}\n`)
}
