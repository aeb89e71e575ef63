import { readTimes } from '../arguments.ts'
import { command, Refused, yesOption, type Run } from '../command.ts'
import type { Output } from '../output.ts'
import { counted } from '../show.ts'

export interface AppliedMigration {
  readonly version: number
  readonly name: string
}

/** The one command that needs a database and no schema in it. */
export type RunMigrate = (
  work: (migrate: () => Promise<readonly AppliedMigration[]>, output: Output) => Promise<void>,
) => Promise<void>

export const migrate = (run: RunMigrate) =>
  command('migrate', "bring the database's schema up to this version; servers do so when they start").action(() =>
    run(async (apply, output) => {
      const applied = await output.during('Bringing the schema up to date', apply())
      output.result(
        { applied: applied.map(({ version, name }) => ({ migration: version, name })) },
        applied.length === 0
          ? 'The schema is up to date.'
          : applied.map(({ version, name }) => `Applied ${version} ${name}.`).join('\n'),
      )
    }),
  )

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

interface CopyOptions {
  readonly to: string
}

export const databaseCopy = (run: RunCopy) =>
  command(
    'copy',
    'copy everything to an empty database on another server (PostgreSQL 15 or later); stop every process of the gateway before',
    'gateway database copy --to postgres://gateway@db.internal:5432/gateway   (a password: PGPASSWORD, or ~/.pgpass)',
  )
    .requiredOption('--to <url>', 'the address of the empty database')
    .action(({ to }: CopyOptions) =>
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

/** Retention at this moment; the dispatchers do the same by themselves, every ten minutes. */
export const historyDrop = (run: Run) =>
  command(
    'drop',
    'drop the messages of more than 90 days ago; dispatchers do so by themselves every ten minutes',
  ).action(() =>
    run(async ({ backOffice, output }) => {
      const sum = { partitions: 0, sends: 0, messages: 0 }
      for (;;) {
        const { left, ...dropped } = await backOffice.dropHistory()
        sum.partitions += dropped.partitions
        sum.sends += dropped.sends
        sum.messages += dropped.messages
        const text = `${counted(sum.messages, 'message')} in ${counted(sum.sends, 'send')} dropped`
        if (left === 'more') output.progress(text)
        if (left === 'busy') throw new Refused(`Not all could be dropped: others are at it. Try again later. ${text}.`)
        if (left === 'all') {
          output.result(
            sum,
            `${text}${sum.partitions > 0 ? `, ${counted(sum.partitions, 'partition')} as a whole` : ''}.`,
          )
          return
        }
      }
    }),
  )

interface SkipOptions {
  readonly blocks: number
  readonly yes?: true
}

export const idsSkip = (run: Run) =>
  command(
    'skip',
    'after a restore: leave out the ids that may have been given out since the backup; stop every process before, or restart it after',
    'gateway ids skip --blocks 5000',
  )
    .option('--blocks <count>', 'so many blocks of 10,000 ids, 1 to 1000000', readTimes, 1000)
    .option(...yesOption)
    .action(({ blocks, ...asked }: SkipOptions) =>
      run(async ({ backOffice, confirm, output }) => {
        await confirm(`Leave out ${counted(blocks, 'block')} of 10,000 ids? No message gets them any more.`, asked)
        const from = await output.during('Skipping ids', backOffice.skipIds(blocks))
        output.result(
          { blocks, firstMessage: from },
          `${counted(blocks, 'block')} skipped: processes that start from now on give out ids from ${from} on.`,
        )
      }),
    )

/** The second step of changing SECRETS_KEY: afterwards the older key can be left out. */
export const secretsReseal = (run: Run) =>
  command('reseal', 'encrypt the secrets of webhooks and carriers with the first key of SECRETS_KEY').action(() =>
    run(async ({ backOffice, output }) => {
      const { webhooks, carrierVersions, secondFactors } = await output.during('Encrypting', backOffice.resealSecrets())
      output.result(
        { webhooks, carrierVersions, secondFactors },
        webhooks + carrierVersions + secondFactors === 0
          ? 'Every secret is encrypted with the current key.'
          : `The secrets of ${counted(webhooks, 'webhook')}, ${counted(carrierVersions, 'version')} of the carriers and ${counted(secondFactors, 'second factor')} are now encrypted with the current key.`,
      )
    }),
  )
