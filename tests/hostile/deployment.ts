import { openAccount } from '../support/accounts.ts'
import { interfaces, type Interface } from '../support/attempts.ts'
import type { Client } from '../support/clients.ts'
import { freePorts } from '../support/free-ports.ts'
import { startDatabase, type Database } from '../support/database.ts'
import { dataFolder, killLeftovers, startApp, type Environment, type Started } from '../support/process.ts'

/** Portal password of the attacking account. */
export const hostilePassword = 'correct horse battery'

export const layouts = ['the all-in-one', 'separate processes'] as const
type Layout = (typeof layouts)[number]

/**
 * Module that collects garbage when the process gets SIGUSR2, because V8 does not collect while a process is idle.
 * After three attacks by long answers, an idle process had 220 MB of heap, of which 43 MB were in use.
 */
const collectAtSignal = `data:text/javascript,${encodeURIComponent(
  `import { setFlagsFromString } from 'node:v8'
  import { runInNewContext } from 'node:vm'
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  process.on('SIGUSR2', () => collect())`,
)}`

const served = [...interfaces, 'portal', 'smpp'] as const
type Served = (typeof served)[number]

/** Running gateway with an attacking account and another one that sends. */
export interface Deployment {
  readonly environment: Environment
  readonly database: Database
  /** Returns the process that serves an interface, the portal or SMPP. */
  readonly serving: (by: Served) => Started
  /** Returns the port on which clients reach it. */
  readonly portOf: (by: Served) => number
  /** All processes, including the dispatcher and the callbacks of carriers. */
  readonly processes: readonly Started[]
  readonly victim: (by: Interface) => Client
  readonly hostile: (by: Interface) => Client
  readonly hostileId: number
  stop(): Promise<void>
}

export async function deploy(layout: Layout, further: Environment = {}): Promise<Deployment> {
  const data = await dataFolder()
  const database = await startDatabase(`${data.path}/db`)
  const [smppPort = 0] = await freePorts(1)
  const environment = {
    SMPP_PORT: String(smppPort),
    DATABASE_URL: database.connectionString,
    DATA_DIR: data.path,
    CARRIERS: 'simulator:?delayMs=10',
    WEBHOOK_HTTP: 'true',
    WEBHOOK_ALLOW: '127.0.0.0/8',
    NODE_OPTIONS: `--import ${collectAtSignal}`,
    ...further,
  }
  const names =
    layout === 'the all-in-one' ? (['all-in-one'] as const) : ([...served, 'dispatcher', 'callbacks'] as const)
  const processes = await Promise.all(names.map((name) => startApp(name, environment)))
  const [first] = processes
  const serving = (by: Served): Started => {
    const found = layout === 'the all-in-one' ? first : processes[served.indexOf(by)]
    if (found === undefined) throw new Error(`nothing serves ${by}`)
    return found
  }
  const victim = await openAccount(environment, 'victim', 1_000_000)
  const hostile = await openAccount(environment, 'hostile', 1_000_000, '--password', hostilePassword)
  return {
    environment,
    database,
    serving,
    portOf: (by) => (by === 'smpp' ? smppPort : Number(new URL(serving(by).url).port)),
    processes,
    victim: (by) => ({ url: serving(by).url, key: victim.key }),
    hostile: (by) => ({ url: serving(by).url, key: hostile.key }),
    hostileId: hostile.id,
    stop: async () => {
      killLeftovers()
      await database.remove()
      await data.remove()
    },
  }
}
