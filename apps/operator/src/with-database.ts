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

/** Blocks of ids to skip after a restore; the default of `gateway ids skip`. */
const blocksSkipped = 1000

export interface About {
  readonly note: (text: string) => void
  readonly make: Make
  /**
   * Ends the work early. Running statements have a few seconds to end, and the work may still print their outcome.
   */
  readonly interruption: AbortSignal
}

/**
 * Opens the database that the environment names, runs `work` on it, and closes it. Servers may use the database at the
 * same time. Throws errors whose messages are written for the operator.
 */
export async function withDatabase(
  work: (opened: Opened) => Promise<void>,
  { note, make, interruption }: About,
): Promise<void> {
  for (const { name, likely } of misspeltVariables(process.env, publishedVariables))
    note(`The variable ${name} is unknown and ignored. Did you mean ${likely}?`)
  const where = readEnvironment(variables)
  try {
    const { close, ...opened } = await unlessInterrupted(open(where, { note, make, interruption }), interruption)
    try {
      await unlessInterrupted(work(opened), interruption)
    } finally {
      await close()
      // The pending statements have ended by now. Let the work print what it has done before the process ends.
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
      // A command is too short to use up a block of ids of its own, so it uses a shared block. It also needs no cache.
      settings: { ...databaseSettings(where), ids: 'shared-block', cacheSeconds: 0 },
    })
  const postgres = openPorts()
  let closing: Promise<void> | undefined
  const unlessEnded = () => interruption.throwIfAborted()
  const disconnect = (): Promise<void> => (closing ??= postgres.close())
  const close = async (): Promise<void> => {
    await disconnect()
    await database.stop()
  }
  try {
    await postgres.checkServer()
    await postgres.clock.compare()
    if (make === false && !(await postgres.hasSchema()))
      throw new Error(
        'This database has no schema of the gateway. Name the database of the gateway with DATABASE_URL or DATA_DIR; ' +
          'to create a schema, start a server or run "gateway migrate".',
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
        await disconnect()
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
      await disconnect()
      return copyDatabase({ from: database.connectionString, to, progress, unlessEnded })
    },
    settings: { ...gatewayDefaults, senders: where.SENDERS },
    processingSettings: processingSettings(where),
    close,
  }
}

async function diskOf(folder: string): Promise<{ readonly free: number; readonly all: number }> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { free: bavail * bsize, all: blocks * bsize }
}

/**
 * Describes a problem with the database at `url` (undefined: the embedded one) for the operator, in a sentence that
 * contains no secret.
 */
export function explain(thrown: unknown, url: string | undefined): string {
  const problem = thrown instanceof Error && thrown.message.startsWith(unreached) ? thrown.cause : thrown
  const text = hideSecrets(messageOf(problem)).trim()
  if (isLostAnswer(text))
    return `The connection to the database was lost before it answered, so the change may or may not have been made. Check before you repeat the command.`
  const code = codeOf(problem)
  const advice = ADVICE[code ?? '']
  if (advice !== undefined) return `${advice} PostgreSQL says: ${text}.`
  if (code === undefined ? isBroken(text) : isAway(code))
    return `The database cannot be reached: ${text}. ${check(url)}`
  return code !== undefined && isSqlState(code) ? `The database refuses: ${text}.` : text
}

/** Advice by SQLSTATE: which resource the database server has run out of, and what to do about it. */
const ADVICE: Readonly<Record<string, string>> = {
  '53100': 'The disk of the database is full. Enlarge the volume, or delete other files on it.',
  '53300':
    'The database accepts no further connections. End idle sessions (pg_stat_activity), or raise max_connections or the connection limit of the role.',
}

/** Beginning of the message with which `checkServer` reports a failure to connect. */
const unreached = 'the database cannot be reached: '

const check = (url: string | undefined): string =>
  url === undefined
    ? 'See the log of the embedded PostgreSQL in DATA_DIR/postgres.'
    : 'Check DATABASE_URL (its host, port, user, password and database), and whether the server runs.'

/** Joins the messages of an AggregateError, because a host name with several addresses yields one error for each. */
const messageOf = (problem: unknown): string => {
  if (problem instanceof AggregateError && problem.message === '') return problem.errors.map(messageOf).join('; ')
  return problem instanceof Error ? problem.message : String(problem)
}

const codeOf = (problem: unknown): string | undefined =>
  problem instanceof Error && 'code' in problem && typeof problem.code === 'string' ? problem.code : undefined

const isSqlState = (code: string): boolean => /^(?=.*[0-9])[0-9A-Z]{5}$/.test(code)

/**
 * Returns true for codes of the network and of TLS, and for SQLSTATEs of a failed connection, denied access, a missing
 * database, exhausted resources and a shutdown.
 */
const isAway = (code: string): boolean => !isSqlState(code) || /^(08|28|3D|53|57P)/.test(code)

/** Returns true for connection errors that the driver reports without a code. */
const isBroken = (text: string): boolean => /^Connection terminated|timeout|SASL|SSL/i.test(text)

const isLostAnswer = (text: string): boolean => text.startsWith('the answer of the database was lost')
