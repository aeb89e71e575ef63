import { createServer } from 'node:net'
import { removeCluster, startEmbeddedPostgres } from '@gateway/embedded-postgres'
import { interfaces, type Interface } from './attempts.ts'
import { copyCluster, dataFolder, killLeftovers, startApp, type Environment, type Started } from './process.ts'

/** One of the two processes of an interface. It keeps its port over restarts. */
export interface Instance {
  readonly by: Interface
  readonly at: 0 | 1
  readonly port: number
  readonly process: () => Started
  /** Sends a signal, waits for the end and returns the exit code. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>
  readonly start: () => Promise<void>
}

/** Two processes of each interface and two dispatchers, on one database. */
export interface Pairs {
  readonly instances: readonly Instance[]
  /** Environment of the command line. */
  readonly environment: Environment
  readonly folder: string
  /** Returns the output of all processes, including ended ones. */
  readonly output: () => string
  readonly stop: () => Promise<void>
}

export async function startPairs(further: Environment = {}): Promise<Pairs> {
  const data = await dataFolder()
  const cluster = `${data.path}/db`
  await copyCluster(cluster)
  const database = await startEmbeddedPostgres({ dataDir: cluster })
  const environment = {
    DATABASE_URL: database.connectionString,
    DATA_DIR: data.path,
    CARRIERS: 'simulator:?delayMs=10',
    ...further,
  }
  const ports = await freePorts(6)
  const started: Started[] = []
  const begin = async (app: Interface | 'dispatcher', port = 0): Promise<Started> => {
    const process = await startApp(app, { ...environment, PORT: String(port) })
    started.push(process)
    return process
  }
  const instances = await Promise.all(
    interfaces.flatMap((by, i) => ([0, 1] as const).map((at) => instance(by, at, ports[2 * i + at] ?? 0, begin))),
  )
  const dispatchers = await Promise.all([begin('dispatcher'), begin('dispatcher')])
  return {
    instances,
    environment,
    folder: data.path,
    output: () => started.map((process) => process.output()).join(''),
    stop: async () => {
      await Promise.all([...instances, ...dispatchers].map((each) => each.stop()))
      killLeftovers()
      await database.stop()
      await removeCluster(cluster)
      await data.remove()
    },
  }
}

async function instance(
  by: Interface,
  at: 0 | 1,
  port: number,
  begin: (app: Interface, port: number) => Promise<Started>,
): Promise<Instance> {
  let current = await begin(by, port)
  return {
    by,
    at,
    port,
    process: () => current,
    stop: (signal) => current.stop(signal),
    start: async () => {
      current = await begin(by, port)
    },
  }
}

// These ports are below the range that the system uses for outgoing connections, so no other process takes the port of
// an instance during its restart.
const PORTS = { from: 20_000, to: 30_000 }
let nextPort = process.pid * 101

/** Returns different ports on which no process listens. Each test process starts the search at a different port. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>()
  for (let at = nextPort; found.size < count; at++) {
    const port = PORTS.from + (at % (PORTS.to - PORTS.from))
    nextPort = at + 1
    if (await isFree(port)) found.add(port)
  }
  return [...found]
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
