import { command } from '../command.ts'
import type { Output } from '../output.ts'
import { counted } from '../show.ts'

export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

/** Copies the database to the one at an address; `progress` is told how many rows of a table are there. */
export type CopyTo = (
  address: string,
  progress: (table: string, rows: number) => void,
) => Promise<readonly CopiedTable[]>

export type RunCopy = (work: (copyTo: CopyTo, output: Output) => Promise<void>) => Promise<void>

interface Options {
  readonly to: string
}

export const databaseCopy = (run: RunCopy) =>
  command(
    'copy',
    'copy everything to an empty database on another server (PostgreSQL 15 or later); stop every process of the gateway before',
    'gateway database copy --to postgres://gateway@db.internal:5432/gateway   (a password: PGPASSWORD, or ~/.pgpass)',
  )
    .requiredOption('--to <url>', 'the address of the empty database')
    .action(({ to }: Options) =>
      run(async (copyTo, output) => {
        const tables = await copyTo(to, (table, rows) => output.progress(`${table}: ${counted(rows, 'row')}`))
        const rows = tables.reduce((sum, table) => sum + table.rows, 0)
        output.result(
          { copied: rows, tables: tables.map((table) => ({ table: table.table, copied: table.rows })) },
          `${counted(rows, 'row')} of ${counted(tables.length, 'table')} copied; every table counted and every balance added up again on both sides.\n` +
            'Start every process with DATABASE_URL set to the new database from now on, and none without.',
        )
      }),
    )
