import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { createSchemaWithin, migrate } from '../migrate.ts'
import { digestOf, migrations } from '../migrations.ts'
import { BackupRefused, readBackup, type BackupEnd, type BackupHead, type BackupSource } from './backup-format.ts'
import { CopyRefused, refuseBusy, refuseConnected, refuseFilled } from './refusals.ts'
import {
  columnsOf,
  connectionOf,
  countOf,
  hasSchema,
  ledgerOf,
  migrationsOf,
  namesOf,
  partitionOf,
  plainText,
  sequencesOf,
  tablesOf,
} from './whole-database.ts'

export interface VerifiedBackup {
  /** Time of the snapshot, in ISO 8601. */
  readonly made: string
  readonly server: string
  readonly rows: number
  readonly tables: readonly string[]
}

export interface VerifyOptions {
  /** Aborts reading. */
  readonly signal?: AbortSignal
  /** If true, also refuses a backup made by another version, which this version cannot restore. */
  readonly toRestore?: boolean
}

/** Reads a whole backup. Throws a `BackupRefused` for a file that is truncated, altered or not a backup. */
export async function verifyBackup(
  source: BackupSource,
  { signal, toRestore = false }: VerifyOptions = {},
): Promise<VerifiedBackup> {
  const begin = ({ migrations }: BackupHead): void => {
    if (toRestore && !isOfThisVersion(migrations)) throw new BackupRefused(otherVersion(source))
  }
  const { head, end } = await readBackup(source, { begin, table: drain, sequence: () => undefined }, signal)
  return summaryOf({ head, rows: end.rows })
}

/** The steps of the schema as a backup of this version names them. */
export const schemaOfThisVersion = (): BackupHead['migrations'] =>
  migrations.map((migration) => ({ version: migration.version, digest: digestOf(migration) }))

const isOfThisVersion = (of: BackupHead['migrations'] | undefined): boolean =>
  JSON.stringify(of) === JSON.stringify(schemaOfThisVersion())

const otherVersion = ({ name }: BackupSource): string =>
  `${name} was made by another version: restore it with that version, then upgrade`

async function drain(_table: string, rows: AsyncIterable<Buffer>): Promise<void> {
  const pieces = rows[Symbol.asyncIterator]()
  while ((await pieces.next()).done !== true);
}

const summaryOf = ({ head: { made, server, columns }, rows }: FilledFrom): VerifiedBackup => ({
  made,
  server,
  rows: Object.values(rows).reduce((sum, count) => sum + count, 0),
  tables: Object.keys(columns),
})

export interface FillOptions {
  readonly source: BackupSource
  readonly progress: (table: string) => void
  /** Called before each piece. Throws to abort the restore, which then leaves nothing. */
  readonly unlessEnded: () => void
}

export interface RestoreOptions extends FillOptions {
  /** Backup, which is read twice. */
  readonly source: BackupSource
  /** URL of an empty database or of an unused schema. */
  readonly to: string
}

/**
 * Reads the whole backup once to verify it, then fills an empty database from it. Throws a `BackupRefused` for an
 * unsuitable file and a `CopyRefused` for an unsuitable database.
 */
export async function restoreBackup({ source, to, ...options }: RestoreOptions): Promise<VerifiedBackup> {
  await verifyBackup(source, { toRestore: true })
  const target = connectionOf(to, 'restore')
  try {
    await target.connect()
    await target.query(plainText)
    await refuseFilled(target)
    if (await hasSchema(target)) {
      await migrate(to)
      await refuseBusy(target)
    } else await refuseConnected(target)
    return summaryOf(await fillFromBackup(target, { source, ...options }))
  } finally {
    await target.end().catch(() => undefined)
  }
}

/** Contents of a backup that was restored. */
interface FilledFrom {
  readonly head: BackupHead
  readonly rows: BackupEnd['rows']
}

/**
 * Fills an empty schema of this version from a backup in one transaction, which also creates a missing schema. Before
 * the commit, counts the rows of each table and compares all balances with the ledger and with those of the backup.
 */
export async function fillFromBackup(
  target: Client,
  { source, progress, unlessEnded }: FillOptions,
): Promise<FilledFrom> {
  await target.query('begin')
  if (!(await hasSchema(target))) await createSchemaWithin(target)
  const { head, end } = await readBackup(source, {
    begin: (head) => prepareTables(target, source, head),
    table: async (table, rows) => {
      progress(table)
      const names = await namesOf(target, table)
      const copy = target.query(copyFrom(`copy ${table} (${names}) from stdin`))
      async function* pieces() {
        for await (const piece of rows) {
          unlessEnded()
          yield piece
        }
      }
      await pipeline(Readable.from(pieces(), { objectMode: false }), copy)
    },
    sequence: async (name, last, isCalled) => {
      if (!(await sequencesOf(target)).includes(name))
        throw new CopyRefused(`The sequence ${name} does not exist in this version.`)
      await target.query('select setval($1::regclass, $2::bigint, $3::bool)', [name, last, isCalled])
    },
  })
  for (const [table, rows] of Object.entries(end.rows)) {
    const count = await countOf(target, table)
    if (count !== rows) throw new Error(`${table}: ${count} of ${rows} rows arrived`)
  }
  if ((await ledgerOf(target)) !== end.ledger) throw new Error('the ledger differs from that of the backup')
  await target.query('commit')
  await target.query('analyze')
  return { head, rows: end.rows }
}

/** Creates the partitions of a backup and empties all tables. Throws if a table differs from that of the backup. */
async function prepareTables(target: Client, source: BackupSource, { columns, migrations }: BackupHead): Promise<void> {
  if (JSON.stringify(migrations) !== JSON.stringify(await migrationsOf(target)))
    throw new CopyRefused(`${otherVersion(source)}.`)
  for (const table of Object.keys(columns)) {
    const partition = partitionOf(table)
    if (partition !== undefined) await target.query('select add_partition($1)', [partition])
  }
  const tables = await tablesOf(target)
  for (const table of Object.keys(columns)) {
    if (!tables.includes(table) || columns[table] !== (await columnsOf(target, table)))
      throw new CopyRefused(`The table ${table} is not the same in ${source.name} and in this version.`)
  }
  await target.query(`lock table ${tables.join(', ')} in access exclusive mode`)
  await target.query(`truncate ${tables.join(', ')}`)
}
