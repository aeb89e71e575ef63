import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readLimit } from '../arguments.ts'
import { getBytes, nameOf, putFile } from '../backup-store.ts'
import { command, interrupted, Refused, yesOption, type Context, type RunAlone } from '../command.ts'
import type { Output } from '../output.ts'
import { counted } from '../show.ts'

export interface WrittenBackup {
  readonly bytes: number
  readonly rows: number
}

export interface MadeBackup extends WrittenBackup {
  readonly file: string
}

/** What a backup is read from, each time from its beginning, and what messages call it. */
export interface BackupSource {
  readonly name: string
  readonly read: () => Readable
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
  /** To a stream, which stays open. */
  readonly write: (to: Writable, progress: (text: string) => void) => Promise<WrittenBackup>
  /** Into an empty database; then skips ids and verifies the ledger. The ports do not work any more. */
  readonly restore: (source: BackupSource, progress: (text: string) => void) => Promise<RestoredBackup>
}

/** Whether to make a database where there is none; to restore, also beside the files of one that is gone. */
export type Make = boolean | 'to restore'

export type RunBackup = (
  make: Make,
  work: (backups: Backups, output: Output, interruption: AbortSignal) => Promise<void>,
) => Promise<void>

export const sizeText = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`

export const backupCreate = (run: RunBackup) =>
  command(
    'create',
    'write one snapshot of the database into one file, while everything works on; secrets.key is not in it',
    'gateway backup create --to /backup/gateway',
  )
    .requiredOption(
      '--to <folder|url|->',
      'a folder, made if it is not there; an http(s) address that takes a PUT, as a presigned one of an object store; ' +
        '-: standard output',
    )
    .action((options: { readonly to: string; readonly json?: boolean }) => {
      const to = placeOf(options.to)
      if (to === '-' && options.json === true)
        throw new Refused('With --to - the backup itself is the output: leave --json.', 2)
      return run(false, async (backups, output, interruption) => {
        const progress = (text: string) => output.progress(text)
        const tell = ({ file, bytes, rows }: MadeBackup, more = '') =>
          output.result({ file, bytes, copied: rows }, `${file}: ${counted(rows, 'row')} in ${sizeText(bytes)}.${more}`)
        if (to === '-') {
          const bytes = output.bytes()
          if (bytes === undefined)
            throw new Refused(
              'A backup is nothing to look at: send it to a file, as in --to - > FILE, or to a program.',
            )
          let isOpen = true
          bytes.once('error', () => (isOpen = false))
          const written = await backups.write(bytes, progress).catch((problem: unknown) => {
            throw isOpen ? problem : new Refused('Standard output ended early: what was written is cut off.')
          })
          output.note(`${counted(written.rows, 'row')} in ${sizeText(written.bytes)}.`)
        } else if (typeof to === 'string') tell(await backups.create(to, progress))
        else
          await inFolder(async (folder) => {
            const { file, ...written } = await backups.create(folder, progress)
            const sending = putFile(file, to, { signal: interruption })
            const { isConfirmed } = await output.during('Sending', sending)
            tell({ file: nameOf(to), ...written }, isConfirmed ? ' The store confirms its MD5.' : '')
          })
      })
    })

/** What it is made to, or read from. A scheme has two letters or more: one is a drive of Windows. */
function placeOf(text: string): string | URL {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) return text
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new Refused(
    'A backup goes to a folder, to - (standard output), or to an http:// or https:// address that takes a PUT ' +
      `(a presigned one of an object store), and not to ${text.split(':')[0] ?? ''}://.`,
    2,
  )
}

/** For what is on its way; nothing of it stays. `TMPDIR` says where. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-transfer-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export const backupRestore = (run: RunBackup, runAlone: RunAlone) => {
  return command(
    'restore',
    'fill an empty database from a file, skip ids and verify the ledger; a file that is cut off or changed is refused before',
    'gateway backup restore /backup/gateway/gateway-20261118T080000Z.backup',
  )
    .argument('<file|url|->', 'what backup create has made; -: standard input')
    .action((from: string) =>
      runAlone(async (context) => {
        const source = await sourceOf(from, context)
        if (from === source.name) return restore(source, context.interruption)
        // It is read twice: whole, before anything is written.
        await inFolder(async (folder) => {
          const file = join(folder, 'received')
          await context.output.during('Receiving', receive(source, file, context.interruption))
          await restore({ ...(await backupFile(file)), name: source.name }, context.interruption)
        })
      }),
    )

  async function restore(source: BackupSource, signal: AbortSignal): Promise<void> {
    // Before a database is made.
    await wholeBackup(source, { signal, toRestore: true })
    return run('to restore', async (backups, output) => {
      const progress = (text: string) => output.progress(text)
      const { made, rows, firstMessage, accounts, differences } = await backups.restore(source, progress)
      output.result(
        { made, copied: rows, firstMessage, verified: accounts },
        `${counted(rows, 'row')} restored, as of ${made}. Processes give out ids from ${firstMessage} on.\n` +
          (differences === 0 ? `${counted(accounts, 'account')}: every balance is the sum of its entries.\n` : '') +
          'What waits may have been sent since then: before you start a dispatcher, see "Restore" in the documentation.',
      )
      if (differences > 0)
        throw new Refused(`The ledger and the balances of ${counted(differences, 'account')} differ.`)
    })
  }
}

export const backupVerify = (runAlone: RunAlone) =>
  command('verify', 'read a file to its end and say whether it is whole; it needs no database')
    .argument('<file|url|->', 'what backup create has made; -: standard input')
    .action((from: string) =>
      runAlone(async (context) => {
        const { output } = context
        const source = await sourceOf(from, context)
        const whole = await output.during('Reading', wholeBackup(source, { signal: context.interruption }))
        output.one(
          { file: source.name, made: whole.made, copied: whole.rows, tables: whole.tables },
          `${source.name} is whole: ${counted(whole.rows, 'row')} of ${counted(whole.tables.length, 'table')}, as of ${whole.made}.`,
        )
      }),
    )

async function sourceOf(
  from: string,
  { input, interruption }: Pick<Context, 'input' | 'interruption'>,
): Promise<BackupSource> {
  const place = placeOf(from)
  if (place === '-') return { name: 'Standard input', read: () => input.bytes() }
  if (typeof place === 'string') return backupFile(place)
  const read = () => Readable.from(getBytes(place, { signal: interruption }), { objectMode: false })
  return { name: nameOf(place), read }
}

const backupFile = async (path: string) => (await import('@gateway/adapters-postgres')).backupFile(path)

const receive = (source: BackupSource, file: string, signal: AbortSignal) =>
  pipeline(source.read(), createWriteStream(file, { mode: 0o600, flags: 'wx' }), { signal }).catch((error: unknown) => {
    throw signal.aborted ? interrupted() : error
  })

async function wholeBackup(
  source: BackupSource,
  options: { readonly signal: AbortSignal; readonly toRestore?: boolean },
) {
  const { verifyBackup, BackupRefused } = await import('@gateway/adapters-postgres')
  return verifyBackup(source, options).catch((error: unknown) => {
    if (options.signal.aborted) throw interrupted()
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
    .option(...yesOption)
    .action((folder: string, { keep, ...asked }: { readonly keep: number; readonly yes?: true }) =>
      runAlone(async ({ confirm, output }) => {
        await confirm(`Delete all backups in ${folder} but the newest ${keep}?`, asked)
        const { pruneBackups } = await import('@gateway/adapters-postgres')
        const { kept, deleted } = await pruneBackups(folder, keep).catch(unreadable(folder))
        output.result({ kept, deleted }, `${counted(deleted, 'file')} deleted, ${kept} kept.`)
      }),
    )

const unreadable = (folder: string) => (error: unknown) => {
  throw new Refused(`${folder} cannot be read or changed (${(error as NodeJS.ErrnoException).code ?? String(error)}).`)
}
