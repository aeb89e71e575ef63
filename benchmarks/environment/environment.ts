import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Check } from '../figures/result.ts'
import type { IdRanges } from '../loads/id-ranges.ts'
import type { SendLoad, SendLoadResult } from '../loads/send-load.ts'
import { startWorker, type Worker } from '../loads/workers.ts'
import { startApp, type App, type Started } from './processes.ts'
import type { Database, Server } from './postgres.ts'

/**
 * Where one benchmark runs: a database of its own, processes that end with it, and what it must not forget to check.
 */
export interface BenchmarkEnvironment {
  readonly quick: boolean
  readonly server: Server
  readonly database: Database
  /** Where its processes keep their files, the carrier's record among them. */
  readonly folder: string
  start(
    app: App,
    environment?: Readonly<Record<string, string>>,
    database?: Database,
    /** Errors that it may log. */
    expected?: RegExp,
  ): Promise<Started>
  worker(): Worker
  createDatabase(): Promise<Database>
  /**
   * Sends to numbers that were not sent to before, and remembers for the checks what was accepted, unless on another
   * database.
   */
  sends(
    worker: Worker,
    load: Omit<SendLoad, 'firstNumber'>,
    isElsewhere?: boolean,
  ): Promise<SendLoadResult & { readonly cpu: number }>
  /** Reserves numbers; returns the n of the first. */
  numbers(count: number): number
  /** Everything that was accepted on the environment's own database. */
  readonly accepted: IdRanges
  check(what: string, problem: string | undefined): void
  readonly checks: readonly Check[]
  say(line: string): void
  end(): Promise<void>
}

/** A load that runs by time gets so many numbers. */
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
      const [[what, times] = []] = Object.entries(result.failures)
      environment.check(
        `each ${load.face} send of ${load.recipients} was answered 200 with an id for each number`,
        what === undefined ? undefined : `${String(times)} times: ${what}`,
      )
      return result
    },
    check: (what, problem) => {
      const known = checks.findIndex((check) => check.what === what)
      if (known < 0) checks.push({ what, ...(problem !== undefined && { problem }) })
      else if (problem !== undefined) checks[known] = { what, problem }
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
