import { readTimes } from '../arguments.ts'
import { command, Refused, yesOption, type Run } from '../command.ts'
import type { Output } from '../output.ts'
import { counted } from '../show.ts'
import { sizeText } from './backup.ts'

export interface AppliedMigration {
  readonly version: number
  readonly name: string
}

/** Runs `migrate`, the only command that works on a database without a schema. */
export type RunMigrate = (
  work: (migrate: () => Promise<readonly AppliedMigration[]>, output: Output) => Promise<void>,
) => Promise<void>

export const migrate = (run: RunMigrate) =>
  command('migrate', 'update the database schema to this version; servers do so when they start').action(() =>
    run(async (apply, output) => {
      const applied = await output.during('Updating the schema', apply())
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

/** Copies the database to the one at a URL. Calls `progress` with a table and the bytes of all tables copied so far. */
export type CopyTo = (
  address: string,
  progress: (table: string, bytes: number) => void,
) => Promise<readonly CopiedTable[]>

export type RunCopy = (work: (copyTo: CopyTo, output: Output) => Promise<void>) => Promise<void>

interface CopyOptions {
  readonly to: string
}

export const databaseCopy = (run: RunCopy) =>
  command(
    'copy',
    'copy everything to an empty database on another server (PostgreSQL 15 or later); stop all processes of the gateway first',
    'gateway database copy --to postgres://gateway@db.internal:5432/gateway   (a password: PGPASSWORD, or ~/.pgpass)',
  )
    .requiredOption('--to <url>', 'the address of the empty database')
    .action(({ to }: CopyOptions) =>
      run(async (copyTo, output) => {
        const tables = await copyTo(to, (table, bytes) => output.progress(`${table}: ${sizeText(bytes)} copied`))
        const rows = tables.reduce((sum, table) => sum + table.rows, 0)
        output.result(
          { copied: rows, tables: tables.map((table) => ({ table: table.table, copied: table.rows })) },
          `${counted(rows, 'row')} of ${counted(tables.length, 'table')} copied. Row counts and balances were verified on both sides.\n` +
            'From now on, start every process with DATABASE_URL set to the new database.',
        )
      }),
    )

/** Drops old history now. Dispatchers do the same every ten minutes. */
export const historyDrop = (run: Run) =>
  command(
    'drop',
    'drop messages that are older than 90 days; dispatchers do so automatically every ten minutes',
  ).action(() =>
    run(async ({ backOffice, output }) => {
      const sum = { partitions: 0, sends: 0, messages: 0 }
      for (;;) {
        const { progress: rest, ...dropped } = await backOffice.commands.dropHistory()
        sum.partitions += dropped.partitions
        sum.sends += dropped.sends
        sum.messages += dropped.messages
        const text = `${counted(sum.messages, 'message')} in ${counted(sum.sends, 'send')} dropped`
        if (rest === 'more') output.progress(text)
        if (rest === 'busy')
          throw new Refused(
            `Not everything could be dropped, because another process is doing so. Try again later. ${text}.`,
          )
        if (rest === 'all') {
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
    'after a restore: skip the message ids that may have been assigned since the backup; stop all processes first, or restart them afterwards',
    'gateway ids skip --blocks 5000',
  )
    .option('--blocks <count>', 'number of blocks of 10,000 ids, 1 to 1000000', readTimes, 1000)
    .option(...yesOption)
    .action(({ blocks, ...confirmation }: SkipOptions) =>
      run(async ({ backOffice, confirm, output }) => {
        await confirm(`Skip ${counted(blocks, 'block')} of 10,000 ids? No message will get these ids.`, confirmation)
        const from = await output.during('Skipping ids', backOffice.commands.skipIds(blocks))
        output.result(
          { blocks, firstMessage: from },
          `${counted(blocks, 'block')} skipped. Processes that start from now on assign ids from ${from} on.`,
        )
      }),
    )

/** Second step of changing SECRETS_KEY. Afterwards the older key can be removed from the variable. */
export const secretsReseal = (run: Run) =>
  command(
    'reseal',
    'encrypt the secrets of webhooks, carriers and second factors with the first key of SECRETS_KEY',
  ).action(() =>
    run(async ({ backOffice, output }) => {
      const { webhooks, carrierVersions, secondFactors } = await output.during(
        'Encrypting',
        backOffice.commands.resealSecrets(),
      )
      output.result(
        { webhooks, carrierVersions, secondFactors },
        webhooks + carrierVersions + secondFactors === 0
          ? 'Every secret is encrypted with the current key.'
          : `The secrets of ${counted(webhooks, 'webhook')}, ${counted(carrierVersions, 'version')} of the carriers and ${counted(secondFactors, 'second factor')} are now encrypted with the current key.`,
      )
    }),
  )
