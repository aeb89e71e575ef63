import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { unless } from './errors.ts'

/** Those of `names` that are in `dataDir`. */
export const leftOf = async (dataDir: string, names: readonly string[]): Promise<readonly string[]> => {
  const found = await Promise.all(names.map((name) => unless(['ENOENT'], lstat(join(dataDir, name)))))
  return names.filter((_, i) => found[i] !== undefined)
}

export const databaseGone = (dataDir: string, left: readonly string[]): Error =>
  new Error(
    `${dataDir} has no database (${join(dataDir, 'postgres')} is empty or gone), but ${left.join(' and ')} of one. Restore a backup ` +
      'as docs/operations.md says under "Restore", or set DATABASE_URL if the database is elsewhere. To begin with an empty ' +
      `database on purpose, move ${left.length === 1 ? 'that' : 'those'} away.`,
  )

export const noDatabase = (dataDir: string): Error =>
  new Error(
    `There is no database in ${dataDir}. Name the folder of the gateway with DATA_DIR, or its server with DATABASE_URL. ` +
      'A new database is made by a server that starts, or by "gateway migrate".',
  )
