import { statfs } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { nodeSecrets } from '@gateway/adapters-node'
import {
  BackupRefused,
  copyDatabase,
  CopyRefused,
  createBackup,
  postgresPorts,
  restoreBackup,
  writeBackup,
  TargetUnreachable,
} from '@gateway/adapters-postgres'
import {
  dataDirCompanions,
  processingSettings,
  processingVariables,
  publishedVariables,
  SENDERS,
  webhookPorts,
  webhookVariables,
} from '@gateway/composition/configuration'
import { gatewayDefaults } from '@gateway/core'
import { openDatabase } from '@gateway/embedded-postgres'
import {
  certificateEndings,
  databaseSettings,
  databaseVariables,
  extraAuthorities,
  misspeltVariables,
  processVariables,
  readEnvironment,
  hideSecrets,
  type Environment,
} from '@gateway/server/configuration'
import { interrupted, Refused } from './command.ts'
import { sizeText, type Make } from './commands/backup.ts'
import type { Opened } from './run-command-line.ts'

const variables = { ...processVariables, ...databaseVariables, ...processingVariables, ...webhookVariables, SENDERS }

/** As `gateway ids skip` without a number. */
const blocksSkipped = 1000

export interface About {
  readonly note: (text: string) => void
  readonly make: Make
  /**
   * Ends the work early: what is at the database is waited for, for some seconds, and the work may tell what came of
   * it.
   */
  readonly interruption: AbortSignal
}

/**
 * Runs `work` on the database of the environment, beside whatever else uses it, and closes it. Throws Errors whose
 * messages are for the operator.
 */
export async function withDatabase(
  work: (opened: Opened) => Promise<void>,
  { note, make, interruption }: About,
): Promise<void> {
  for (const { name, likely } of misspeltVariables(process.env, publishedVariables))
    note(`The variable ${name} is not read. Is ${likely} meant?`)
  const where = readEnvironment(variables)
  try {
    const { close, ...opened } = await unlessInterrupted(open(where, { note, make, interruption }), interruption)
    try {
      await unlessInterrupted(work(opened), interruption)
    } finally {
      await close()
      // Whatever the work waited for has ended now: work that tells what it has done does so before the end.
      if (interruption.aborted) await setImmediate()
    }
  } catch (problem) {
    if (problem instanceof Refused || problem instanceof TargetUnreachable) throw problem
    if (problem instanceof CopyRefused) throw new Refused(problem.message)
    if (problem instanceof BackupRefused) throw new Refused(`${problem.message}.`)
    throw new Error(explain(problem, where.DATABASE_URL), { cause: problem })
  }
}

function unlessInterrupted<Result>(work: Promise<Result>, interruption: AbortSignal): Promise<Result> {
  const interruptedWork = new Promise<never>((_, reject) => {
    const interrupt = (): void => reject(interrupted())
    if (interruption.aborted) interrupt()
    else interruption.addEventListener('abort', interrupt, { once: true })
  })
  return Promise.race([work, interruptedWork])
}

async function open(
  where: Environment<typeof variables>,
  { note, make, interruption }: About,
): Promise<Opened & { readonly close: () => Promise<void> }> {
  const database = await openDatabase({
    url: where.DATABASE_URL,
    dataDir: where.DATA_DIR,
    make: make !== false,
    companions: make === 'to restore' ? [] : dataDirCompanions,
    log: note,
  })
  const openPorts = () =>
    postgresPorts({
      connectionString: database.connectionString,
      log: { info: () => undefined, warn: note },
      // A command ends before it could use a block of ids, or what it remembers could be old.
      settings: { ...databaseSettings(where), ids: 'shared-block', cacheSeconds: 0 },
    })
  const postgres = openPorts()
  let closing: Promise<void> | undefined
  const unlessEnded = () => interruption.throwIfAborted()
  const leave = (): Promise<void> => (closing ??= postgres.close())
  const close = async (): Promise<void> => {
    await leave()
    await database.stop()
  }
  try {
    await postgres.checkServer()
    await postgres.clock.compare()
    if (make === false && !(await postgres.hasSchema()))
      throw new Error(
        'This database has no schema of the gateway. Name the database of the gateway with DATABASE_URL or DATA_DIR; ' +
          'a schema is made by a server that starts, or by "gateway migrate".',
      )
  } catch (problem) {
    await close()
    throw problem
  }
  return {
    ports: { ...postgres.ports, ...webhookPorts(where), clock: postgres.clock, secrets: nodeSecrets() },
    migrate: () => postgres.migrate(),
    surroundings: async () => ({
      database: await postgres.examine(),
      disk: where.DATABASE_URL === undefined ? await diskOf(where.DATA_DIR) : undefined,
      certificates: certificateEndings([...postgres.certificates, ...extraAuthorities()]),
      clockOffsetSeconds: postgres.clock.offsetSeconds(),
    }),
    backups: {
      create: (folder, progress) =>
        createBackup({
          from: database.connectionString,
          folder,
          progress: (table, bytes) => progress(`${table}: ${sizeText(bytes)} read`),
          between: unlessEnded,
        }),
      write: (to, progress) =>
        writeBackup({
          from: database.connectionString,
          to,
          progress: (table, bytes) => progress(`${table}: ${sizeText(bytes)} read`),
          between: unlessEnded,
        }),
      restore: async (source, progress) => {
        await leave()
        const to = database.connectionString
        const { made, rows } = await restoreBackup({ source, to, progress, unlessEnded })
        const restored = openPorts()
        try {
          const firstMessage = await restored.ports.history.skipIds(blocksSkipped)
          const { accounts, differences } = await restored.ports.ledger.check()
          return { made, rows, firstMessage, accounts, differences: differences.length }
        } finally {
          await restored.close()
        }
      },
    },
    copyTo: async (to, progress) => {
      await leave()
      return copyDatabase({ from: database.connectionString, to, progress, unlessEnded })
    },
    settings: { ...gatewayDefaults, senders: where.SENDERS },
    processingSettings: processingSettings(where),
    close,
  }
}

async function diskOf(folder: string): Promise<{ readonly left: number; readonly all: number }> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { left: bavail * bsize, all: blocks * bsize }
}

/**
 * What went wrong with the database at `url` (undefined: the embedded one), for the operator: a sentence without a
 * secret.
 */
export function explain(given: unknown, url: string | undefined): string {
  const problem = given instanceof Error && given.message.startsWith(unreached) ? given.cause : given
  const text = hideSecrets(messageOf(problem)).trim()
  if (isLostAnswer(text))
    return `The database broke off before it answered: it may have done it or not. Look before you repeat it.`
  const code = codeOf(problem)
  const advice = ADVICE[code ?? '']
  if (advice !== undefined) return `${advice} PostgreSQL says: ${text}.`
  if (code === undefined ? isBroken(text) : isAway(code))
    return `The database cannot be reached: ${text}. ${check(url)}`
  return code !== undefined && isSqlState(code) ? `The database refuses: ${text}.` : text
}

/** By SQLSTATE: what a server is out of, and what to do. */
const ADVICE: Readonly<Record<string, string>> = {
  '53100': 'The disk of the database is full. Enlarge the volume, or delete what else is there.',
  '53300':
    'The database has no connection left. End what holds them (pg_stat_activity), or raise max_connections or the limit of the role.',
}

/** As the check of the server begins what it says of a failure to connect. */
const unreached = 'the database cannot be reached: '

const check = (url: string | undefined): string =>
  url === undefined
    ? 'Look into the log of the embedded PostgreSQL, in DATA_DIR/postgres.'
    : 'Check DATABASE_URL (its host, port, user, password and database), and whether the server runs.'

/** A name with several addresses fails once for each, and has no message of its own. */
const messageOf = (problem: unknown): string => {
  if (problem instanceof AggregateError && problem.message === '') return problem.errors.map(messageOf).join('; ')
  return problem instanceof Error ? problem.message : String(problem)
}

const codeOf = (problem: unknown): string | undefined =>
  problem instanceof Error && 'code' in problem && typeof problem.code === 'string' ? problem.code : undefined

const isSqlState = (code: string): boolean => /^(?=.*[0-9])[0-9A-Z]{5}$/.test(code)

/**
 * Codes of the network and of TLS; of the server those for no connection, no access, no such database, no room, shut
 * down.
 */
const isAway = (code: string): boolean => !isSqlState(code) || /^(08|28|3D|53|57P)/.test(code)

/** What the driver says without a code. */
const isBroken = (text: string): boolean => /^Connection terminated|timeout|SASL|SSL/i.test(text)

const isLostAnswer = (text: string): boolean => text.startsWith('the answer of the database was lost')
