import { execFile, execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { until } from '@gateway/core/testing'
import { openAccount } from '../support/accounts.ts'
import { aspSend, restBalance, restSend, type Client } from '../support/clients.ts'
import { startDatabase, type Database } from '../support/database.ts'
import { freePorts } from '../support/free-ports.ts'
import { dataFolder, listening, spawnApp, type App, type Environment, type Spawned } from '../support/process.ts'
import { startSmscProcess, type RunningSmsc } from '../support/smsc.ts'
import { canSetClocks, wrongClock, type WrongClock } from '../support/wrong-clock.ts'
import { startMonitoring, type Monitoring } from './monitoring.ts'

/** Processes of the gateway on the stage, by the name under which Prometheus knows each. */
export type Name = 'rest' | 'asp' | 'smpp' | 'dispatcher' | 'dispatcher-2'

/** A gateway with traffic on it, watched by Prometheus and Alertmanager. */
export interface Stage {
  readonly database: Database
  readonly smsc: RunningSmsc
  readonly monitoring: Monitoring
  /** Environment of the command line. */
  readonly environment: Environment
  readonly client: Record<'rest' | 'asp', Client>
  /** Folder with the database and the data of all processes: a disk of 400 MB if `hasDisk`. */
  readonly folder: string
  readonly hasDisk: boolean
  /** Clock of the process asp; undefined without libfaketime. */
  readonly clock: WrongClock | undefined
  readonly traffic: Traffic
  process(name: Name): Spawned
  /** Kills a process. */
  kill(name: Name): Promise<void>
  /** Starts a process that has ended, at its old address. */
  start(name: Name, changes?: Environment): Promise<void>
  /** Makes Prometheus scrape all processes except these. */
  scrapeWithout(...names: readonly Name[]): Promise<void>
  /** Stores a certificate of the SMPP server that ends after this number of days, and restarts the server. */
  serveCertificate(days: number): Promise<void>
  stop(): Promise<void>
}

/** Messages and requests of a client, all the time. Failures are ignored. */
export interface Traffic {
  /** Last digits of the numbers; the test SMSC decides by them. */
  ending: string
  stop(): void
  go(): void
}

const run = promisify(execFile)

/** Starts the processes of these names. */
export async function startStage(names: readonly Name[], change?: (rules: string) => string): Promise<Stage> {
  const data = await dataFolder()
  const folder = join(data.path, 'db')
  await mkdir(folder)
  const hasDisk = await run('mount', ['-t', 'tmpfs', '-o', 'size=400m,mode=755', 'tmpfs', folder]).then(
    () => true,
    () => false,
  )
  const smscFolder = join(data.path, 'smsc')
  await mkdir(smscFolder)
  const [database, smsc] = await Promise.all([
    startDatabase(folder),
    startSmscProcess(smscFolder, ['receiptDelay=100']),
  ])
  await mkdir(join(folder, 'backups'))
  const clock = canSetClocks ? await wrongClock(join(data.path, 'clock'), '+0') : undefined
  const environment: Environment = {
    DATABASE_URL: database.connectionString,
    DATA_DIR: folder,
    CARRIERS: `alpha=${smsc.url}?silentSeconds=8`,
    LEASE_SECONDS: '5',
    WEBHOOK_ALLOW: '127.0.0.0/8',
    WEBHOOK_HTTP: 'true',
  }
  const ports = await freePorts(names.length + 2)
  const targets = names.map((instance, at) => ({ instance, port: ports[at] ?? 0 }))
  const [smppPort = 0, smppTlsPort = 0] = ports.slice(-2)
  const certificate = join(data.path, 'smpp.pem')
  const changes: Partial<Record<Name, Environment>> = {
    ...(clock && { asp: clock.environment }),
    smpp: {
      SMPP_PORT: String(smppPort),
      SMPP_TLS_PORT: String(smppTlsPort),
      SMPP_TLS_CERT: certificate,
      SMPP_TLS_KEY: certificate,
    },
  }
  const processes = new Map<Name, Spawned>()
  async function start(name: Name, more: Environment = {}): Promise<void> {
    const port = targets.find(({ instance }) => instance === name)?.port ?? 0
    const app = name.replace(/-2$/, '') as App
    const spawned = spawnApp(app, { ...environment, ...changes[name], PORT: String(port), ...more })
    processes.set(name, spawned)
    await listening(spawned)
  }
  const processOf = (name: Name): Spawned => {
    const found = processes.get(name)
    if (found === undefined) throw new Error(`${name} is not on the stage`)
    return found
  }
  if (names.includes('smpp')) await writeCertificate(certificate, 90)
  await setBackupAge(folder, 0)
  await start(names[0] ?? 'rest')
  await Promise.all(names.slice(1).map((name) => start(name)))
  const { key } = await openAccount(environment, 'acme', 1_000_000)
  const monitoring = await startMonitoring(join(data.path, 'monitoring'), targets, change)
  await until(async () => (await monitoring.query('up == 1')).length === targets.length)
  const clientOf = (name: Name): Client => ({
    url: `http://127.0.0.1:${targets.find(({ instance }) => instance === name)?.port ?? 0}`,
    key,
  })
  const client = { rest: clientOf('rest'), asp: clientOf(names.includes('asp') ? 'asp' : 'rest') }
  const traffic = startTraffic(client, names.includes('asp'))
  return {
    database,
    smsc,
    monitoring,
    environment,
    client,
    folder,
    hasDisk,
    clock,
    traffic,
    process: processOf,
    start,
    kill: async (name) => {
      await processOf(name).stop('SIGKILL')
    },
    scrapeWithout: (...without) => monitoring.scrape(targets.filter(({ instance }) => !without.includes(instance))),
    serveCertificate: async (days) => {
      await writeCertificate(certificate, days)
      await processOf('smpp').stop()
      await start('smpp')
    },
    stop: async () => {
      traffic.end()
      await monitoring.stop()
      database.thaw()
      await Promise.all([...processes.values()].map((each) => each.stop('SIGKILL')))
      await smsc.stop('SIGKILL')
      await database.remove()
      // Unmounts even if a process of the server that is ending still has a file open there.
      if (hasDisk) await run('umount', ['--lazy', folder])
      await data.remove()
    },
  }
}

/** Stores a self-signed certificate and its key in one file. */
async function writeCertificate(file: string, days: number): Promise<void> {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const { stdout } = await run('openssl', [
    ...['req', '-x509', ...curve, '-days', String(days)],
    ...['-subj', '/CN=localhost', '-keyout', '-', '-out', '-'],
  ])
  await writeFile(file, stdout)
}

/** True if certificates can be made here. */
export const hasOpenssl = ((): boolean => {
  try {
    execFileSync('openssl', ['version'])
    return true
  } catch {
    return false
  }
})()

/** Makes the name of a backup file of this age, as `gateway backup create` does, the only one in the data folder. */
export async function setBackupAge(folder: string, hours: number): Promise<void> {
  const stamp = new Date(Date.now() - hours * 3_600_000).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const backups = join(folder, 'backups')
  await run('sh', ['-c', `mkdir -p "$0" && rm -f "$0"/* && touch "$0/gateway-${stamp}.backup"`, backups])
}

let numbers = 0
const numberEnding = (ending: string): string => `2782${String(++numbers).padStart(5, '0')}${ending}`

function startTraffic(client: Record<'rest' | 'asp', Client>, hasAsp: boolean): Traffic & { end(): void } {
  let [isOn, hasEnded] = [true, false]
  const traffic = { ending: '01', stop: () => void (isOn = false), go: () => void (isOn = true) }
  const next = (): string => numberEnding(traffic.ending)
  async function loop(pauseMilliseconds: number, work: () => Promise<unknown>): Promise<void> {
    while (!hasEnded) {
      if (isOn) await work().catch(() => undefined)
      await delay(pauseMilliseconds, undefined, { ref: false })
    }
  }
  void loop(250, () => restSend(client.rest, [next()]))
  void loop(1000, () => restBalance(client.rest))
  void loop(5000, () => restSend(client.rest, Array.from({ length: 30 }, next)))
  if (hasAsp) void loop(300, () => aspSend(client.asp, [next()]))
  return Object.assign(traffic, { end: () => void (hasEnded = true) })
}
