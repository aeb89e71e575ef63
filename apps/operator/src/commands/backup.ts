import { readLimit } from '../arguments.ts'
import { command, Refused, type RunAlone } from '../command.ts'
import type { Output } from '../output.ts'
import { counted } from '../show.ts'

export interface MadeBackup {
  readonly file: string
  readonly bytes: number
  readonly rows: number
}

export interface RestoredBackup {
  /** ISO 8601. */
  readonly made: string
  readonly rows: number
  /** The first id that is given out from now on. */
  readonly firstMessage: number
  readonly accounts: number
  /** Accounts whose balance is not the sum of their entries. */
  readonly differences: number
}

/** What can be done with a whole database. */
export interface Backups {
  readonly create: (folder: string, progress: (text: string) => void) => Promise<MadeBackup>
  /** Into an empty database; then skips ids and verifies the ledger. The ports do not work any more. */
  readonly restore: (file: string, progress: (text: string) => void) => Promise<RestoredBackup>
}

/** Whether to make a database where there is none; to restore, also beside the files of one that is gone. */
export type Make = boolean | 'to restore'

export type RunBackup = (make: Make, work: (backups: Backups, output: Output) => Promise<void>) => Promise<void>

export const sizeText = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`

export const backupCreate = (run: RunBackup) =>
  command(
    'create',
    'write one snapshot of the database into one file, while everything works on; secrets.key is not in it',
    'gateway backup create --to /backup/gateway',
  )
    .requiredOption('--to <folder>', 'where to put it; made if it is not there')
    .action(({ to }: { readonly to: string }) =>
      run(false, async (backups, output) => {
        const progress = (text: string) => output.progress(text)
        const { file, bytes, rows } = await backups.create(to, progress)
        output.result({ file, bytes, copied: rows }, `${file}: ${counted(rows, 'row')} in ${sizeText(bytes)}.`)
      }),
    )

export const backupRestore = (run: RunBackup) =>
  command(
    'restore',
    'fill an empty database from a file, skip ids and verify the ledger; a file that is cut off or changed is refused before',
    'gateway backup restore /backup/gateway/gateway-20261118T080000Z.backup',
  )
    .argument('<file>', 'a file that backup create has made')
    .action(async (file: string) => {
      // Before a database is made.
      await wholeBackup(file)
      return run('to restore', async (backups, output) => {
        const progress = (text: string) => output.progress(text)
        const { made, rows, firstMessage, accounts, differences } = await backups.restore(file, progress)
        output.result(
          { made, copied: rows, firstMessage, verified: accounts },
          `${counted(rows, 'row')} restored, as of ${made}. Processes give out ids from ${firstMessage} on.\n` +
            (differences === 0 ? `${counted(accounts, 'account')}: every balance is the sum of its entries.\n` : '') +
            'What waits may have been sent since then: before you start a dispatcher, see "Restore" in the documentation.',
        )
        if (differences > 0)
          throw new Refused(`The ledger and the balances of ${counted(differences, 'account')} differ.`)
      })
    })

export const backupVerify = (runAlone: RunAlone) =>
  command('verify', 'read a file to its end and say whether it is whole; it needs no database')
    .argument('<file>', 'a file that backup create has made')
    .action((file: string) =>
      runAlone(async ({ output }) => {
        const whole = await output.during('Reading', wholeBackup(file))
        output.one(
          { file, made: whole.made, copied: whole.rows, tables: whole.tables },
          `${file} is whole: ${counted(whole.rows, 'row')} of ${counted(whole.tables.length, 'table')}, as of ${whole.made}.`,
        )
      }),
    )

async function wholeBackup(file: string) {
  const { verifyBackup, BackupRefused } = await import('@gateway/adapters-postgres')
  return verifyBackup(file).catch((error: unknown) => {
    throw error instanceof BackupRefused ? new Refused(`${error.message}.`) : error
  })
}

export const backupList = (runAlone: RunAlone) =>
  command('list', 'list the files of a folder, the newest first')
    .argument('<folder>', 'where backup create has put them')
    .action((folder: string) =>
      runAlone(async ({ output }) => {
        const { listBackups } = await import('@gateway/adapters-postgres')
        const files = await listBackups(folder).catch(unreadable(folder))
        await output.rows(
          ['MADE', 'SIZE', 'FILE'],
          files.map(({ file, made, bytes }) => ({ json: { file, made, bytes }, cells: [made, sizeText(bytes), file] })),
        )
      }),
    )

export const backupPrune = (runAlone: RunAlone) =>
  command('prune', 'delete all files of a folder but the newest', 'gateway backup prune /backup/gateway --keep 7')
    .argument('<folder>', 'where backup create has put them')
    .requiredOption('--keep <count>', 'so many stay, 1 or more', readLimit)
    .action((folder: string, { keep }: { readonly keep: number }) =>
      runAlone(async ({ output }) => {
        const { pruneBackups } = await import('@gateway/adapters-postgres')
        const { kept, deleted } = await pruneBackups(folder, keep).catch(unreadable(folder))
        output.result({ kept, deleted }, `${counted(deleted, 'file')} deleted, ${kept} kept.`)
      }),
    )

const unreadable = (folder: string) => (error: unknown) => {
  throw new Refused(`${folder} cannot be read or changed (${(error as NodeJS.ErrnoException).code ?? String(error)}).`)
}
