import type { Client } from 'pg'
import { createClient } from '../client.ts'
import { migrate } from '../migrate.ts'
import { serverAddress } from '../server-address.ts'
import { checkLedger } from '../sql/ledger.ts'
import { copyTable } from './copy-table.ts'
import { refuseBusySource, refuseFilledTarget } from './refuse-copy.ts'
import { columnsOf, countOf, sequencesOf, tablesOf } from './tables-of.ts'

/** Nobody is let in at the target; a sentence for the operator. */
export class TargetUnreachable extends Error {}

export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

export interface CopyOptions {
  /** URLs. The first has the schema of this version. */
  readonly from: string
  readonly to: string
  /** Told now and then how many rows of a table are there. */
  readonly progress: (table: string, rows: number) => void
  /** Before each piece: throws to end the copy, of which nothing stays. */
  readonly unlessEnded: () => void
}

/**
 * Copies a whole database of the gateway to an empty one, on a server of any version from 15 on: every table with its partitions, and
 * every sequence, in one transaction on each side. The source is locked against writers meanwhile, and not changed. What was copied is
 * counted on both sides, and every balance added up again from the ledger, before anything is committed.
 *
 * Throws an Error for the operator where the target holds anything, the source is in use (a dispatcher with a lease, another process of
 * the gateway), the two are the same, or a schema is another one; then the target has no more than an empty schema.
 */
export async function copyDatabase({ from, to, progress, unlessEnded }: CopyOptions): Promise<readonly CopiedTable[]> {
  const [source, target] = [connectionOf(from), connectionOf(to)]
  try {
    await source.connect()
    await target.connect().catch(unreached)
    await Promise.all([source.query(plainText), target.query(plainText)])
    await refuseFilledTarget(source, target)
    await migrate(to)
    await refuseBusySource(source)
    await source.query('begin isolation level repeatable read')
    await target.query('begin')
    const tables = await beginCopy(source, target)
    const copied: CopiedTable[] = []
    for (const table of tables) {
      const rows = await copyTable(source, target, table, (soFar) => {
        unlessEnded()
        progress(table, soFar)
      })
      copied.push({ table, rows })
    }
    await copySequences(source, target)
    await verify(source, target, copied)
    await target.query('commit')
    await target.query('analyze')
    return copied
  } finally {
    await Promise.all([source, target].map((client) => client.end().catch(() => undefined)))
  }
}

/** Names the server that is meant: whoever copies has given the addresses of two. */
function unreached(cause: unknown): never {
  throw new TargetUnreachable(
    `The target cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}. Check the address of --to, and whether ` +
      'PGPASSWORD or ~/.pgpass has the password of its user.',
    { cause },
  )
}

const connectionOf = (url: string): Client =>
  createClient(serverAddress(url), {
    application_name: 'database copy',
    connectionTimeoutMillis: 5000,
    keepAlive: true,
  })

/** Values as texts that every server reads as they were written. */
const plainText = `set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres'; set timezone = 'UTC'; set extra_float_digits = 1;
  set statement_timeout = 0; set lock_timeout = '5s'; set idle_in_transaction_session_timeout = 0`

/** Locks both, gives the target the partitions of the source, and empties it of what every new schema holds. Returns the tables to copy. */
async function beginCopy(source: Client, target: Client): Promise<readonly string[]> {
  const tables = await tablesOf(source)
  await source.query(`lock table ${tables.join(', ')} in share mode`)
  for (const table of tables) {
    const partition = /^send_p([0-9]+)$/.exec(table)?.[1]
    if (partition !== undefined) await target.query('select add_partition($1)', [partition])
  }
  for (const table of tables) {
    if ((await columnsOf(source, table)) !== (await columnsOf(target, table))) {
      throw new Error(`the table ${table} is not the same in both databases: bring both to this version`)
    }
  }
  await target.query(`truncate ${tables.join(', ')}`)
  return tables
}

async function copySequences(source: Client, target: Client): Promise<void> {
  for (const sequence of await sequencesOf(source)) {
    const { rows } = await source.query<{ last: string; called: boolean }>(
      `select last_value::text last, is_called called from ${sequence}`,
    )
    await target.query('select setval($1::regclass, $2::bigint, $3::bool)', [sequence, rows[0]?.last, rows[0]?.called])
  }
}

async function verify(source: Client, target: Client, copied: readonly CopiedTable[]): Promise<void> {
  for (const { table, rows } of copied) {
    const [there, here] = [await countOf(source, table), await countOf(target, table)]
    if (there !== rows || here !== rows) throw new Error(`of ${there} rows of ${table} ${here} arrived`)
  }
  const sums = async (client: Client) => JSON.stringify((await client.query(checkLedger.text)).rows)
  if ((await sums(source)) !== (await sums(target))) throw new Error('the ledgers of the two databases differ')
}
