import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { aCarrierId, chanceOf, type Chance } from '@gateway/core/testing'
import { simulatedCarrierOfRun, type CarrierOfRun } from './carrier.ts'
import { httpCarrierOfRun } from './http-carrier.ts'
import { smppCarrierOfRun } from './smpp-carrier.ts'
import { adoptReceipts, setCarrierMode } from '../support/operate.ts'
import { freePorts } from '../support/free-ports.ts'
import { manageWebhooks } from './account-holders.ts'
import { backUp, judgeBackup } from './backup.ts'
import { judge } from './checks.ts'
import { createClients } from './clients.ts'
import { startMember, type App, type Member } from './processes.ts'
import { openDatabase, type Database } from './database.ts'
import { injectFaults, type Injecting } from './faults.ts'
import { download, openReader } from './downloads.ts'
import { createFigures, type Figures } from './figures.ts'
import { askEverything, verify } from './final-checks.ts'
import { judgeEvents } from './event-checks.ts'
import { judgeInbox, judgeLists } from './inbox-checks.ts'
import { watchLiveness } from './liveness.ts'
import { startLoad } from './load.ts'
import { openNetwork, type Network } from './network.ts'
import { gatewayHere, gatewayOf, openAccounts, openEndpoints, operate } from './operator.ts'
import { poll, pollTheRest } from './polls.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { assignCodes, bringReplies } from './replies.ts'
import {
  adoptedAreMatched,
  allIsReported,
  deliveriesHaveCome,
  endInOrder,
  eventsHaveCome,
  repliesHaveCome,
  settle,
} from './settle.ts'
import { expectRevoked, judgeCustomers } from './smpp-checks.ts'
import { openCustomers } from './smpp-customers.ts'
import { readState } from './state.ts'
import { createObservations } from './observations.ts'
import { untilBroken, watchBacklog, watchBalances } from './watch.ts'
import { within } from './within.ts'

export interface FaultRun {
  readonly seed: number
  /** Seconds of load with faults. The start and the settling take additional time. */
  readonly seconds: number
  /**
   * Delays the start so that a full minute occurs during the load. Messages scheduled for that minute become due under
   * load. Default true.
   */
  readonly meetsMinute?: boolean
  /** Checkout whose build is tested. */
  readonly root: string
  readonly recipientsPerSecond: number
  readonly secondsBetweenFaults: number
  readonly carrier: 'simulator' | 'smpp' | 'http'
  /**
   * Maximum submissions per second of each dispatcher. Default a quarter of `recipientsPerSecond`, so that messages
   * nearly always wait in the queue.
   */
  readonly carrierPerSecond?: number
  /** Adds an SMPP server with 20 binds of five accounts. Default false. */
  readonly hasSmppCustomers?: boolean
  /** Kinds of faults to inject; by default all. */
  readonly only?: readonly string[]
  /** Number of concurrent clients. Default 8. */
  readonly clientsAtOnce?: number
  /**
   * Number of waiting messages above which the load pauses. Default 3000, which is a third of what the two carriers
   * accept while the run settles.
   */
  readonly backlogMax?: number
  /** Keeps the output of the processes, the record of the carrier and the database after a violation. */
  readonly keepsLogs: boolean
  readonly log?: (line: string) => void
  /** If true, prints every fault. */
  readonly logsFaults?: boolean
  /** Ends soon after a violation, without waiting for others. */
  readonly endsWhenBroken?: boolean
  /** Scene with another kind of database. Its faults replace the usual faults. */
  readonly scene?: Scene
  /** Interrupts the run. All processes are stopped, all files are removed, and `runFaults` rejects. */
  readonly stopping?: AbortSignal
}

/** Scene of a run whose database is not a single server that recovers. */
export interface Scene {
  open(folder: string, chance: Chance): Promise<Database>
  /** Returns the relay of a process to the database. */
  network(): Network
  readonly inject: (injecting: Injecting) => Promise<void>
  /** Maximum number of times that dispatchers may lose their knowledge of submitted messages because of this scene. */
  readonly losses: number
  /** True if accepted messages may be lost. The run then makes no final checks. */
  readonly isLossy: boolean
}

const apps: readonly App[] = ['rest', 'rest', 'asp', 'asp', 'xml', 'dispatcher', 'dispatcher']
/** Processes of a run with SMPP customers. There are fewer, so that most of the work and of the faults concern SMPP. */
const appsBesideCustomers: readonly App[] = ['rest', 'asp', 'smpp', 'dispatcher', 'dispatcher']
const leaseSeconds = 3
const carriersOfRun = { simulator: simulatedCarrierOfRun, smpp: smppCarrierOfRun, http: httpCarrierOfRun } as const
/** Value of IN_DOUBT_MAX. Over a network it is two windows, because with less a window of 50 would never be full. */
const inDoubtMax = { simulator: 40, smpp: 100, http: 100 } as const

/**
 * Runs the whole test in a new folder. Removes the folder at the end, unless a violation occurred and `keepsLogs` is
 * set.
 */
export async function runFaults(run: FaultRun): Promise<Figures> {
  const { log = () => undefined } = run
  const figures = createFigures()
  const folder = await mkdtemp(join(tmpdir(), 'gw-faults-'))
  await chmod(folder, 0o755)
  const logs = join(folder, 'logs')
  await mkdir(logs)
  await mkdir(join(folder, 'db'))
  const chance = chanceOf(run.seed)
  const database = await (run.scene ?? { open: openDatabase }).open(join(folder, 'db'), chance)
  const members: Member[] = []
  const carriers: CarrierOfRun[] = []
  const receiver = await openReceiver(chanceOf(run.seed + 1), figures)
  try {
    const broken = new Promise<never>((_, reject) =>
      run.stopping?.addEventListener('abort', () => reject(new Error('the run was broken off'))),
    )
    const place = { chance, figures, folder, logs, database, members, carriers, receiver, log }
    await Promise.race([withDatabase(run, place), broken])
  } catch (error) {
    log(`the run did not end\n${[figures.table(), ...figures.violations].join('\n')}`)
    throw error
  } finally {
    await Promise.all(members.map((member) => within(30_000, member.end(true))))
    await Promise.all(members.map(({ network }) => network.close()))
    await Promise.all(carriers.map((carrier) => carrier.close()))
    await receiver.close()
    await database.stop()
    if (figures.violations.length === 0 || !run.keepsLogs) {
      await database.remove()
      await rm(folder, { recursive: true, force: true })
    } else log(`what the processes said, the carrier's record and the database are in ${folder}`)
  }
  return figures
}

interface Place {
  readonly chance: Chance
  readonly figures: Figures
  readonly folder: string
  readonly logs: string
  readonly database: Database
  readonly members: Member[]
  readonly carriers: CarrierOfRun[]
  readonly receiver: Receiver
  readonly log: (line: string) => void
}

async function withDatabase(run: FaultRun, place: Place): Promise<void> {
  const { chance, figures, folder, logs, database, members, receiver, log } = place
  const carrierFolder = join(folder, 'carriers')
  await mkdir(carrierFolder)
  const webhooks = { WEBHOOK_HTTP: 'true', WEBHOOK_ALLOW: '127.0.0.1/32' }
  const common = {
    LEASE_SECONDS: String(leaseSeconds),
    IN_DOUBT_MAX: String(inDoubtMax[run.carrier]),
    RETRY_SECONDS: '1',
    // With a standby, a commit may wait for it. The short timeout lets such a commit time out and be looked up within
    // the run.
    ...(run.scene === undefined ? {} : { STATEMENT_SECONDS: '2' }),
  }
  // The carrier is slow enough to keep the dispatchers at work, because a fault of an idle dispatcher proves nothing.
  const perSecond = run.carrierPerSecond ?? Math.ceil(run.recipientsPerSecond / 4)
  const open = carriersOfRun[run.carrier]
  const pidOf = (member: string) => members.find(({ name }) => name === member)?.runningPid()
  // A run that only fills the best carrier must not count it as slow on a busy machine, because a slow carrier hands
  // over messages without an overflow.
  const slowSeconds = run.only?.join() === 'fill the best carrier' ? 4 : undefined
  const carrier = await open({ folder: carrierFolder, chance, perSecond, slowSeconds, pidOf })
  place.carriers.push(carrier)
  const environment = { ...common, ...webhooks, DATA_DIR: carrierFolder }
  const ofCommands = { DATABASE_URL: database.connectionString, DATA_DIR: carrierFolder, ...webhooks }
  const gateway = gatewayOf(run.root, ofCommands)
  // The preparation runs its commands in this process, because it is not part of the test.
  const here = gatewayHere(ofCommands)

  const observations = createObservations(figures)
  const migrated = await gateway('migrate')
  if (migrated.code !== 0) throw new Error(migrated.out)
  await database.ask(`insert into price (prefix, price) values ('2783', 15), ('2776', 7)`)
  const accounts = await openAccounts(here)
  // The first two accounts have codes, to which people reply. Replies to the other accounts are matched by the numbers
  // that the accounts wrote to, and the last account is locked now and then.
  const codes = await assignCodes(
    here,
    accounts.slice(0, 2).map(({ id }) => id),
  )
  // The first account has an endpoint because it has events of all kinds, and the last one because it is locked now and
  // then. The other accounts have no endpoint.
  await openEndpoints(
    here,
    receiver,
    [accounts[0], accounts.at(-1)].flatMap((account) => account?.id ?? []),
  )
  const pollingAccounts = accounts.filter(({ related }) => related)
  if (run.scene === undefined) await openReader(here, database)
  const [smppPort] = run.hasSmppCustomers === true ? await freePorts(1) : []
  const customers =
    smppPort === undefined
      ? undefined
      : await openCustomers({ chance, figures, observations, gateway: here, port: smppPort, odd: carrier.odd })
  const further: readonly App[] = carrier.callbacks === undefined ? [] : ['callbacks']
  const usual: readonly App[] = customers === undefined ? [...apps, 'portal'] : appsBesideCustomers
  const appsOfRun: readonly App[] = run.scene === undefined ? [...usual, ...further] : [...new Set(apps), 'dispatcher']
  for (const [i, app] of appsOfRun.entries()) {
    const network = run.scene?.network() ?? (await openNetwork(database.connectionString, chance))
    const name = `${app}-${i}`
    const { url, relay } = app === 'dispatcher' ? await carrier.wayOf(name) : { url: undefined, relay: undefined }
    const { PORT = '0', PUBLIC_URL = '' } = carrier.callbacks ?? {}
    const own = {
      CONNECTIONS_MAX: '4',
      ...(url !== undefined && { CARRIERS: url }),
      ...(url !== undefined && PUBLIC_URL !== '' && { PUBLIC_URL }),
      ...(app === 'callbacks' && { PORT }),
      ...(app === 'smpp' && { SMPP_PORT: String(smppPort) }),
    }
    const settings = { root: run.root, environment: { ...environment, ...own }, figures, logs, carrierLink: relay }
    members.push(startMember(app, name, network, settings))
  }
  await within(60_000, Promise.all(members.map((member) => member.ready())))
  log('all processes listen')

  if (run.meetsMinute !== false) await delay(secondsToWait(run.seconds, (Date.now() / 1000) % 60) * 1000)
  const clients = createClients(figures)
  const end = performance.now() + run.seconds * 1000
  const shared = { chance, figures, observations, end }
  const liveness = watchLiveness({ database, figures, members, carrier })
  const watched = { database, figures, carrier, end }
  const backlog = watchBacklog(watched, run.backlogMax ?? 3000)
  const { recipientsPerSecond } = run
  const load = startLoad(
    { ...shared, clients, members, accounts, recipientsPerSecond, backlog, odd: carrier.odd },
    run.clientsAtOnce ?? 8,
  )
  const isBackedUp = run.scene === undefined && run.carrier === 'simulator'
  const all = Promise.all([
    isBackedUp ? backUp({ gateway, folder, observations, figures, end }) : undefined,
    load.over,
    (run.scene?.inject ?? injectFaults)({
      ...shared,
      load,
      members,
      database,
      liveness,
      carrier,
      only: run.only ?? [],
      log: run.logsFaults === true ? log : () => undefined,
      setMode: (name, mode) =>
        setCarrierMode(ofCommands, aCarrierId(name), mode).then(
          () => true,
          () => false,
        ),
      leaseSeconds,
      secondsBetween: run.secondsBetweenFaults,
    }),
    poll({ ...shared, clients, members, accounts: pollingAccounts }),
    bringReplies({
      ...shared,
      connectionString: database.connectionString,
      root: run.root,
      carrier: carrier.id,
      codes,
    }),
    ...members.filter(({ app }) => app === 'portal').map((portal) => download({ figures, portal, database, end })),
    // The short run of a scene has no time for these commands.
    run.scene === undefined ? operate({ ...shared, gateway, accounts }) : undefined,
    manageWebhooks({ ...shared, database, members, accounts, receiver }),
    watchBalances(watched),
    backlog.over,
    customers?.submitUntil(end),
  ])
  if (run.endsWhenBroken === true) {
    await Promise.race([all, untilBroken(watched)])
    if (figures.violations.length > 0) {
      log('a promise was broken: what goes on is not waited for')
      await liveness.stop()
      return
    }
  }
  const [backup] = await all
  log('the load has ended')
  receiver.calmDown()

  if (run.scene?.isLossy === true) return liveness.stop()
  const receiving = new AbortController()
  const received = customers?.receive(receiving.signal)
  const hasSettled =
    run.scene === undefined
      ? await endInOrder(place, chance.shuffled(members), { liveness, load, perSecond })
      : await settle(place, allIsReported)
  await liveness.stop()
  // Data that still changes cannot be judged.
  if (!hasSettled) {
    receiving.abort()
    return received
  }
  log('everything has settled')
  await repliesHaveCome(database, await carrier.record(database))
  await carrier.settled()
  // A dispatcher does this once a minute, which is too rare for the test.
  await adoptReceipts({ DATABASE_URL: database.connectionString })
  await adoptedAreMatched(database)
  await pollTheRest({ clients, figures, observations, members, accounts: pollingAccounts })
  await eventsHaveCome(place)
  if (customers !== undefined) await deliveriesHaveCome(place)
  receiving.abort()
  await received
  const losses =
    (run.scene?.losses ?? 0) +
    figures.of('fault: kill a dispatcher') +
    figures.of('fault: pause a dispatcher beyond its lease') +
    2 *
      ['fast', 'immediate', 'crash of a backend', 'kill -9 of all of it'].reduce(
        (n, how) => n + figures.of(`fault: PostgreSQL: ${how}`),
        0,
      ) +
    figures.of('fault: kill at a statement') +
    figures.of('fault: stall a network') +
    2 *
      // Each of these faults leaves submissions unanswered, and a link without answers is closed.
      [
        'cut the carrier’s links',
        'cut a carrier’s link at a PDU',
        'kill the carrier',
        'silence the best carrier',
      ].reduce((n, how) => n + figures.of(`fault: ${how}`), 0) +
    figures.of('fault: stall a carrier’s link')
  figures.count(
    'connections cut',
    members.reduce((n, { network }) => n + network.cuts(), 0),
  )

  const state = await readState(database)
  for (const [name, n] of state.incidents) figures.count(`incidents: ${name}`, n)
  const record = await carrier.record(database)
  if (customers !== undefined) expectRevoked({ state, observations, customers })
  const poor = new Set(accounts.filter((account) => account.poor).map(({ id }) => id))
  judge({
    figures,
    state,
    observations,
    record,
    carrier,
    poor,
    inDoubtMax: inDoubtMax[run.carrier] * (carrier.troubles?.names.length ?? 1),
    losses,
  })
  judgeInbox({ figures, state, observations, record })
  if (customers !== undefined) {
    const kills = members.flatMap((member) => (member.app === 'smpp' ? member.kills() : []))
    judgeCustomers({ figures, state, observations, record, customers, kills })
  }
  const submitted = new Set(record.map(({ messageId }) => messageId))
  await judgeEvents({ database, figures, state, received: receiver.received(), submitted })
  const url = members.find(({ app }) => app === 'rest')?.url() ?? ''
  await judgeLists({ clients, url, accounts, state, figures })
  await verify(gateway, database, figures)
  if (backup !== undefined)
    await judgeBackup(backup, { root: run.root, database, environment: ofCommands, observations, figures })
  const allAccounts = [...accounts, ...(customers?.accounts ?? [])]
  await askEverything({ observations, members, accounts: allAccounts, clients, figures, state })
}

/**
 * Returns the seconds to wait before the load, so that a full minute, to which scheduled times are limited, occurs well
 * before its end.
 */
function secondsToWait(seconds: number, secondOfMinute: number): number {
  const toMinute = 60 - secondOfMinute
  const toLast = toMinute < 8 ? toMinute + 60 : toMinute
  return Math.max(0, toLast + 15 - seconds)
}
