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

/** Source of a backup, with its name for messages. The source can be read from the beginning more than once. */
export interface BackupSource {
  readonly name: string
  readonly read: () => Readable
}

export interface RestoredBackup {
  /** Time of the backup in ISO 8601. */
  readonly made: string
  readonly rows: number
  /** The first message id that is assigned after the restore. */
  readonly firstMessage: number
  readonly accounts: number
  /** Number of accounts whose balance differs from the sum of their ledger entries. */
  readonly differences: number
}

/** Operations on a whole database. */
export interface Backups {
  readonly create: (folder: string, progress: (text: string) => void) => Promise<MadeBackup>
  /** Writes a backup to a stream and leaves the stream open. */
  readonly write: (to: Writable, progress: (text: string) => void) => Promise<WrittenBackup>
  /** Restores into an empty database, skips ids and verifies the ledger. The ports cannot be used afterwards. */
  readonly restore: (source: BackupSource, progress: (text: string) => void) => Promise<RestoredBackup>
}

/**
 * Whether to create a missing database. 'to restore' creates it even if files of a lost database remain in DATA_DIR.
 */
export type Make = boolean | 'to restore'

export type RunBackup = (
  make: Make,
  work: (backups: Backups, output: Output, interruption: AbortSignal) => Promise<void>,
) => Promise<void>

export const sizeText = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`

export const backupCreate = (run: RunBackup) =>
  command(
    'create',
    'write a snapshot of the database into one file while the gateway runs; the file does not contain secrets.key',
    'gateway backup create --to /backup/gateway',
  )
    .requiredOption(
      '--to <folder|url|->',
      'a folder, created if missing; an http(s) URL that accepts a PUT, such as a presigned URL of an object store; ' +
        '- for standard output',
    )
    .action((options: { readonly to: string; readonly json?: boolean }) => {
      const to = placeOf(options.to)
      if (to === '-' && options.json === true)
        throw new Refused('--to - writes the backup to standard output, so --json cannot be used.', 2)
      return run(false, async (backups, output, interruption) => {
        const progress = (text: string) => output.progress(text)
        const printResult = ({ file, bytes, rows }: MadeBackup, more = '') =>
          output.result({ file, bytes, copied: rows }, `${file}: ${counted(rows, 'row')} in ${sizeText(bytes)}.${more}`)
        if (to === '-') {
          const bytes = output.bytes()
          if (bytes === undefined)
            throw new Refused('A backup is not text. Redirect it to a file, as in --to - > FILE, or to a program.')
          let isOpen = true
          bytes.once('error', () => (isOpen = false))
          const written = await backups.write(bytes, progress).catch((problem: unknown) => {
            throw isOpen ? problem : new Refused('Standard output was closed early. The backup is incomplete.')
          })
          output.note(`${counted(written.rows, 'row')} in ${sizeText(written.bytes)}.`)
        } else if (typeof to === 'string') printResult(await backups.create(to, progress))
        else
          await inFolder(async (folder) => {
            const { file, ...written } = await backups.create(folder, progress)
            const sending = putFile(file, to, { signal: interruption })
            const { isConfirmed } = await output.during('Sending', sending)
            printResult({ file: nameOf(to), ...written }, isConfirmed ? ' The store confirms its MD5.' : '')
          })
      })
    })

/**
 * Reads where a backup is: a path or a URL. The scheme of a URL has at least two letters, because a single letter is a
 * drive of Windows.
 */
function placeOf(text: string): string | URL {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) return text
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new Refused(
    'The place of a backup is a folder, - (standard input or output), or an http:// or https:// URL ' +
      `(such as a presigned URL of an object store), not ${text.split(':')[0] ?? ''}://.`,
    2,
  )
}

/** Runs `work` with a temporary folder (below TMPDIR) and removes the folder afterwards. */
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
    'restore a file into an empty database, skip ids and verify the ledger; refuses an incomplete or changed file first',
    'gateway backup restore /backup/gateway/gateway-20261118T080000Z.backup',
  )
    .argument('<file|url|->', 'a backup that backup create has written; - for standard input')
    .action((from: string) =>
      runAlone(async (context) => {
        const source = await sourceOf(from, context)
        if (from === source.name) return restore(source, context.interruption)
        // Save the stream to a file, because a backup is verified completely before anything is restored.
        await inFolder(async (folder) => {
          const file = join(folder, 'received')
          await context.output.during('Receiving', receive(source, file, context.interruption))
          await restore({ ...(await backupFile(file)), name: source.name }, context.interruption)
        })
      }),
    )

  async function restore(source: BackupSource, signal: AbortSignal): Promise<void> {
    // Verify the backup before a database is created.
    await wholeBackup(source, { signal, toRestore: true })
    return run('to restore', async (backups, output) => {
      const progress = (text: string) => output.progress(text)
      const { made, rows, firstMessage, accounts, differences } = await backups.restore(source, progress)
      output.result(
        { made, copied: rows, firstMessage, verified: accounts },
        `${counted(rows, 'row')} restored, as of ${made}. New messages get ids from ${firstMessage} on.\n` +
          (differences === 0 ? `${counted(accounts, 'account')}: every balance is the sum of its entries.\n` : '') +
          'Waiting messages may have been sent since the backup. Before you start a dispatcher, see "Restore" in the documentation.',
      )
      if (differences > 0)
        throw new Refused(`The ledger and the balances of ${counted(differences, 'account')} differ.`)
    })
  }
}

export const backupVerify = (runAlone: RunAlone) =>
  command('verify', 'check that a backup is complete and unchanged; needs no database')
    .argument('<file|url|->', 'a backup that backup create has written; - for standard input')
    .action((from: string) =>
      runAlone(async (context) => {
        const { output } = context
        const source = await sourceOf(from, context)
        const whole = await output.during('Reading', wholeBackup(source, { signal: context.interruption }))
        output.one(
          { file: source.name, made: whole.made, copied: whole.rows, tables: whole.tables },
          `${source.name} is complete: ${counted(whole.rows, 'row')} of ${counted(whole.tables.length, 'table')}, as of ${whole.made}.`,
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
  command('list', 'list the backups in a folder, newest first')
    .argument('<folder>', 'the folder of the backups')
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
  command('prune', 'delete all backups in a folder except the newest', 'gateway backup prune /backup/gateway --keep 7')
    .argument('<folder>', 'the folder of the backups')
    .requiredOption('--keep <count>', 'number of backups to keep, 1 or more', readLimit)
    .option(...yesOption)
    .action((folder: string, { keep, ...confirmation }: { readonly keep: number; readonly yes?: true }) =>
      runAlone(async ({ confirm, output }) => {
        await confirm(`Delete all backups in ${folder} except the newest ${keep}?`, confirmation)
        const { pruneBackups } = await import('@gateway/adapters-postgres')
        const pruned = await pruneBackups(folder, keep).catch(unreadable(folder))
        output.result(pruned, `${counted(pruned.deleted, 'file')} deleted, ${pruned.kept} kept.`)
      }),
    )

const unreadable = (folder: string) => (error: unknown) => {
  throw new Refused(`${folder} cannot be read or changed (${(error as NodeJS.ErrnoException).code ?? String(error)}).`)
}
