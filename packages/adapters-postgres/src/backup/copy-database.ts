import { PassThrough } from 'node:stream'
import { migrate } from '../migrate.ts'
import { writeBackup } from './create-backup.ts'
import { refuseBusy, refuseFilled, refuseSame } from './refusals.ts'
import { fillFromBackup } from './restore-backup.ts'
import { connectionOf, hasSchema, plainText, tablesOf } from './whole-database.ts'

/** Error of a target that cannot be connected to. Its message is for the operator. */
export class TargetUnreachable extends Error {}

export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

export interface CopyOptions {
  /** URL of the source, which has the schema of this version. */
  readonly from: string
  readonly to: string
  /** Called from time to time with the table being read and the number of bytes of all tables read so far. */
  readonly progress: (table: string, bytes: number) => void
  /** Called before each piece. Throws to abort the copy, which then leaves nothing. */
  readonly unlessEnded: () => void
}

/**
 * Copies a whole database of the gateway to an empty one, on a server of any version from 15 on: pipes a backup of the
 * source into a restore of the target. The source is locked against writers during the copy.
 *
 * Throws an Error for the operator if the target is not empty, the source is in use (by a dispatcher with a lease or
 * another process of the gateway), both are the same database, or their schemas differ. The target is then unchanged,
 * except that an unused schema of an earlier version is upgraded.
 */
export async function copyDatabase({ from, to, progress, unlessEnded }: CopyOptions): Promise<readonly CopiedTable[]> {
  const [source, target] = [connectionOf(from, 'database copy'), connectionOf(to, 'database copy')]
  try {
    await source.connect()
    await target.connect().catch(unreached)
    await Promise.all([source.query(plainText), target.query(plainText)])
    await refuseSame(source, target)
    await refuseFilled(target)
    if (await hasSchema(target)) await migrate(to)
    await refuseBusy(source)
    await source.query('begin')
    await source.query(`lock table ${(await tablesOf(source)).join(', ')} in share mode`)

    const pipe = new PassThrough()
    const breakOff = (error: unknown): never => {
      pipe.destroy(error as Error)
      throw error
    }
    const written = writeBackup({ from, to: pipe, progress, between: unlessEnded }).then(() => pipe.end(), breakOff)
    const backup = { name: 'The source', read: () => pipe }
    const filled = fillFromBackup(target, { source: backup, progress: () => undefined, unlessEnded }).catch(breakOff)
    await Promise.allSettled([filled, written])
    const [{ rows }] = await Promise.all([filled, written])
    return Object.entries(rows).map(([table, count]) => ({ table, rows: count }))
  } finally {
    await Promise.all([source, target].map((client) => client.end().catch(() => undefined)))
  }
}

/** Throws an error that names the target, because the operator has given two addresses. */
function unreached(cause: unknown): never {
  throw new TargetUnreachable(
    `The target cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}. ` +
      'Check the address of --to, and whether PGPASSWORD or ~/.pgpass has the password of its user.',
    { cause },
  )
}
