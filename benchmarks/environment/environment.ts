import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Check } from '../figures/result.ts'
import type { IdRanges } from '../loads/id-ranges.ts'
import type { SendLoad, SendLoadResult } from '../loads/send-load.ts'
import { startWorker, type Worker } from '../loads/workers.ts'
import { startApp, type App, type Started } from './processes.ts'
import type { Database, Server } from './postgres.ts'

/** Environment of one benchmark: a database of its own, processes that end with it, and the checks at its end. */
export interface BenchmarkEnvironment {
  readonly quick: boolean
  readonly server: Server
  readonly database: Database
  /** Folder for the files of its processes, including the carrier's record. */
  readonly folder: string
  start(
    app: App,
    environment?: Readonly<Record<string, string>>,
    database?: Database,
    /** Pattern of errors that the process may log. */
    expected?: RegExp,
  ): Promise<Started>
  worker(): Worker
  createDatabase(): Promise<Database>
  /** Sends to unused numbers and records the accepted ids for the checks, unless the sends go to another database. */
  sends(
    worker: Worker,
    load: Omit<SendLoad, 'firstNumber'>,
    isElsewhere?: boolean,
  ): Promise<SendLoadResult & { readonly cpu: number }>
  /** Reserves phone numbers and returns the index of the first. */
  numbers(count: number): number
  /** Ids of all messages accepted on the environment's own database. */
  readonly accepted: IdRanges
  check(subject: string, problem: string | undefined): void
  readonly checks: readonly Check[]
  say(line: string): void
  end(): Promise<void>
}

/** Number of phone numbers to reserve for a load that runs for a fixed time. */
const numbersByTime = 4_000_000

export async function openEnvironment(
  server: Server,
  top: string,
  { name, quick, say }: { name: string; quick: boolean; say: (line: string) => void },
): Promise<BenchmarkEnvironment> {
  const folder = join(top, name)
  await mkdir(folder)
  const database = await server.createDatabase()
  const apps: Started[] = []
  const expectedErrors = new Map<string, RegExp>()
  const workers: Worker[] = []
  const databases: Database[] = [database]
  const accepted: IdRanges = []
  const checks: Check[] = []
  let numbers = 0

  const environment: BenchmarkEnvironment = {
    quick,
    server,
    database,
    folder,
    accepted,
    checks,
    say,
    start: async (app, environment = {}, at = database, expected) => {
      const started = await startApp(app, folder, {
        DATABASE_URL: at.connectionString,
        DATA_DIR: folder,
        ...environment,
      })
      apps.push(started)
      if (expected !== undefined) expectedErrors.set(started.url, expected)
      return { ...started, stop: () => stop(started) }
    },
    worker: () => {
      const worker = startWorker()
      workers.push(worker)
      return worker
    },
    createDatabase: async () => {
      const another = await server.createDatabase()
      databases.push(another)
      return another
    },
    numbers: (count) => {
      numbers += count
      return numbers - count
    },
    sends: async (worker, load, isElsewhere = false) => {
      const count = load.requests === undefined ? numbersByTime : load.requests * load.recipients
      const result = await worker.run('sends', { ...load, firstNumber: environment.numbers(count) })
      if (!isElsewhere) for (const bound of result.accepted) accepted.push(bound)
      const [[subject, times] = []] = Object.entries(result.failures)
      environment.check(
        `each ${load.face} send of ${load.recipients} was answered 200 with an id for each number`,
        subject === undefined ? undefined : `${String(times)} times: ${subject}`,
      )
      return result
    },
    check: (subject, problem) => {
      const known = checks.findIndex((check) => check.condition === subject)
      if (known < 0) checks.push({ condition: subject, ...(problem !== undefined && { problem }) })
      else if (problem !== undefined) checks[known] = { condition: subject, problem }
    },
    end: async () => {
      for (const worker of workers) worker.end()
      for (const app of [...apps]) await stop(app)
      for (const one of databases) await one.drop()
      await rm(folder, { recursive: true, force: true })
    },
  }

  async function stop(app: Started): Promise<void> {
    const place = apps.findIndex(({ url }) => url === app.url)
    if (place < 0) return
    apps.splice(place, 1)
    await app.stop()
    const warnings = await app.lines(40)
    for (const line of warnings.slice(0, 5)) say(`  ${app.app}: ${line.slice(0, 500)}`)
    const expected = expectedErrors.get(app.url)
    const error = (await app.lines(50)).find((line) => expected?.test(line) !== true)
    environment.check('no process of the product logged an error', error?.slice(0, 1000))
  }
  return environment
}
