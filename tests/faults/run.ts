import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { chanceOf, type Chance } from '@gateway/core/testing'
import { simulatedCarrierOfRun, type CarrierOfRun, type Submission } from './carrier.ts'
import { smppCarrierOfRun } from './smpp-carrier.ts'
import { adoptReceipts } from '../support/operate.ts'
import { judge } from './checks.ts'
import { askAgainIfLost, createClients } from './clients.ts'
import { startMember, type App, type Member } from './processes.ts'
import { openDatabase, type Database } from './database.ts'
import { injectFaults } from './faults.ts'
import { createFigures, type Figures } from './figures.ts'
import { judgeEvents } from './event-checks.ts'
import { judgeInbox, judgeLists } from './inbox-checks.ts'
import { watchLiveness, type Liveness } from './liveness.ts'
import { startLoad, type AccountUnderTest, type RunningLoad } from './load.ts'
import { openNetwork } from './network.ts'
import { gatewayOf, openAccounts, openEndpoints, operate, type Gateway } from './operator.ts'
import { poll, pollTheRest } from './polls.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { assignCodes, bringReplies } from './replies.ts'
import { readState, wrongBalances, wrongScheduledCounts } from './state.ts'
import { createObservations, type Observations } from './observations.ts'
import { untilBroken, watchBacklog, watchBalances } from './watch.ts'

export interface FaultRun {
  readonly seed: number
  /** So long are faults injected under load; starting and settling come on top. */
  readonly seconds: number
  /** Begins so late that a full minute falls into the load, so that what was scheduled for it is due under load. Default: true. */
  readonly meetsMinute?: boolean
  /** The checkout whose build is tested. */
  readonly root: string
  readonly recipientsPerSecond: number
  readonly secondsBetweenFaults: number
  readonly carrier: 'simulator' | 'smpp'
  /** What each dispatcher may give the carrier. Default: a quarter of what is sent, so that a queue waits nearly always. */
  readonly carrierPerSecond?: number
  /** Faults of these kinds alone. Default: of all. */
  readonly only?: readonly string[]
  /** While so much waits nothing is sent. Default 3000, a third of what the two carriers take while it settles. */
  readonly backlogMax?: number
  /** Keeps what the processes said, the carrier's record and the database where something was broken. */
  readonly keepsLogs: boolean
  readonly log?: (line: string) => void
  /** Tells of every fault, too. */
  readonly logsFaults?: boolean
  /** Ends soon after a promise was seen to be broken, without waiting for what else there is to see. */
  readonly endsWhenBroken?: boolean
  /** Breaks the run off: everything is ended and removed, and `runFaults` rejects. */
  readonly stopping?: AbortSignal
}

const apps: readonly App[] = ['rest', 'rest', 'asp', 'asp', 'xml', 'dispatcher', 'dispatcher']
const clientsAtOnce = 8
const leaseSeconds = 3
/** Over SMPP two windows: with less, a window of 50 would never be full. */
const inDoubtMax = { simulator: 40, smpp: 100 } as const
const settleMilliseconds = 150_000
/** After the last fault the two carriers have work for so long: each run sees what faults have left behind. */
const calmSeconds = 10

/** One whole run in a folder of its own, of which only figures remain; all of it, where something was broken. */
export async function runFaults(run: FaultRun): Promise<Figures> {
  const { log = () => undefined } = run
  const figures = createFigures()
  const folder = await mkdtemp(join(tmpdir(), 'gw-faults-'))
  await chmod(folder, 0o755)
  const logs = join(folder, 'logs')
  await mkdir(logs)
  await mkdir(join(folder, 'db'))
  const chance = chanceOf(run.seed)
  const database = await openDatabase(join(folder, 'db'), chance)
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

/** What is asked for when no fault comes any more. */
interface Calm {
  readonly liveness: Liveness
  readonly load: RunningLoad
  /** What the carrier of one dispatcher takes. */
  readonly perSecond: number
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
  }
  // Slow enough to be at work nearly always: a fault that meets an idle dispatcher shows nothing.
  const perSecond = run.carrierPerSecond ?? Math.ceil(run.recipientsPerSecond / 4)
  const open = run.carrier === 'smpp' ? smppCarrierOfRun : simulatedCarrierOfRun
  const carrier = await open({ folder: carrierFolder, chance, perSecond })
  place.carriers.push(carrier)
  const environment = { ...common, ...webhooks, DATA_DIR: carrierFolder }
  const gateway = gatewayOf(run.root, { DATABASE_URL: database.connectionString, DATA_DIR: carrierFolder, ...webhooks })

  const migrated = await gateway('migrate')
  if (migrated.code !== 0) throw new Error(migrated.out)
  await database.ask(`insert into price (prefix, price) values ('2783', 15), ('2776', 7)`)
  const accounts = await openAccounts(gateway)
  // The others' replies go to them by the numbers that they wrote to, and the stranger is locked now and then.
  const codes = await assignCodes(
    gateway,
    accounts.slice(0, 2).map(({ id }) => id),
  )
  // One whose events are of all kinds, one that is locked now and then; the others have no endpoint.
  await openEndpoints(
    gateway,
    receiver,
    [accounts[0], accounts.at(-1)].flatMap((account) => account?.id ?? []),
  )
  const pollingAccounts = accounts.filter(({ related }) => related)
  for (const [i, app] of apps.entries()) {
    const network = await openNetwork(database.connectionString, chance)
    const name = `${app}-${i}`
    const { url, relay } = app === 'dispatcher' ? await carrier.wayOf(name) : { url: undefined, relay: undefined }
    const own = { CONNECTIONS_MAX: '4', ...(url === undefined ? {} : { CARRIERS: url }) }
    const settings = { root: run.root, environment: { ...environment, ...own }, figures, logs, carrierLink: relay }
    members.push(startMember(app, name, network, settings))
  }
  await within(60_000, Promise.all(members.map((member) => member.ready())))
  log('all processes listen')

  if (run.meetsMinute !== false) await delay(secondsToWait(run.seconds, (Date.now() / 1000) % 60) * 1000)
  const observations = createObservations(figures)
  const clients = createClients(figures)
  const end = performance.now() + run.seconds * 1000
  const shared = { chance, figures, observations, end }
  const liveness = watchLiveness({ database, figures, members, carrier })
  const watched = { database, figures, carrier, end }
  const backlog = watchBacklog(watched, run.backlogMax ?? 3000)
  const { recipientsPerSecond } = run
  const load = startLoad(
    { ...shared, clients, members, accounts, recipientsPerSecond, backlog, odd: carrier.odd },
    clientsAtOnce,
  )
  const all = Promise.all([
    load.over,
    injectFaults({
      ...shared,
      members,
      database,
      liveness,
      carrier,
      only: run.only ?? [],
      log: run.logsFaults === true ? log : () => undefined,
      leaseSeconds,
      secondsBetween: run.secondsBetweenFaults,
    }),
    poll({ ...shared, clients, members, accounts: pollingAccounts }),
    bringReplies({ ...shared, connectionString: database.connectionString, carrier: carrier.id, codes }),
    operate({ ...shared, gateway, accounts }),
    watchBalances(watched),
    backlog.over,
  ])
  if (run.endsWhenBroken === true) {
    await Promise.race([all, untilBroken(watched)])
    if (figures.violations.length > 0) {
      log('a promise was broken: what goes on is not waited for')
      await liveness.stop()
      return
    }
  }
  await all
  log('the load has ended')
  receiver.calmDown()

  const hasSettled = await endInOrder(place, chance.shuffled(members), { liveness, load, perSecond })
  await liveness.stop()
  // What still moves cannot be judged.
  if (!hasSettled) return
  log('everything has settled')
  await repliesHaveCome(database, await carrier.record(database))
  await carrier.settled()
  // What a dispatcher does once a minute.
  await adoptReceipts({ DATABASE_URL: database.connectionString })
  await adoptedAreMatched(database)
  await pollTheRest({ clients, figures, observations, members, accounts: pollingAccounts })
  await eventsHaveCome(place)
  const losses =
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
      ['cut the carrier’s links', 'cut a carrier’s link at a PDU', 'kill the carrier'].reduce(
        (n, how) => n + figures.of(`fault: ${how}`),
        0,
      ) +
    figures.of('fault: stall a carrier’s link')
  figures.count(
    'connections cut',
    members.reduce((n, { network }) => n + network.cuts(), 0),
  )

  const state = await readState(database)
  for (const [what, n] of state.incidents) figures.count(`incidents: ${what}`, n)
  const record = await carrier.record(database)
  const poor = new Set(accounts.filter((account) => account.poor).map(({ id }) => id))
  judge({ figures, state, observations, record, carrier, poor, inDoubtMax: inDoubtMax[run.carrier], losses })
  judgeInbox({ figures, state, observations, record })
  const submitted = new Set(record.map(({ messageId }) => messageId))
  await judgeEvents({ database, figures, state, received: receiver.received(), submitted })
  const url = members.find(({ app }) => app === 'rest')?.url() ?? ''
  await judgeLists({ clients, url, accounts, state, figures })
  await verify(gateway, database, figures)
  await askEverything({ observations, members, accounts, clients, figures, state })
}

/** Times are full minutes: the next one that something can be scheduled for is to be a while before the end of the load. */
function secondsToWait(seconds: number, secondOfMinute: number): number {
  const toMinute = 60 - secondOfMinute
  const toLast = toMinute < 8 ? toMinute + 60 : toMinute
  return Math.max(0, toLast + 15 - seconds)
}

/**
 * One dispatcher ends while there is work, the other sends what there is: a restart would cure what faults have done to it. It
 * ends too, and then what a killed carrier still owed is told by the next one. False: not all has settled.
 */
async function endInOrder(place: Place, members: readonly Member[], calm: Calm): Promise<boolean> {
  const { figures } = place
  const [first, second] = members.filter(({ app }) => app === 'dispatcher')
  if (first === undefined || second === undefined) throw new Error('there are not two dispatchers')
  await within(90_000, Promise.all(members.map((member) => member.ready())))
  await calm.load.sendInCalm(calm.perSecond * 2 * calmSeconds)
  figures.count(`liveness ${(await calm.liveness.shown()) ? 'shown' : 'not judged'} after: the load`)
  await endOne(first, figures)
  if (!(await settle(place, nothingMoves))) return false
  await endOne(second, figures)
  await within(90_000, Promise.all(members.map((member) => member.ready())))
  return settle(place, allIsReported)
}

/** In good order (P-16). */
async function endOne(member: Member, figures: Figures): Promise<void> {
  const began = performance.now()
  const code = await member.end(false)
  const seconds = (performance.now() - began) / 1000
  if (code !== 0 || seconds > 25) figures.broken('P-16', `SIGTERM: exit code ${String(code)} after ${seconds} s`)
}

// A claimed batch without ids only stops a claim that failed and may still be at work; it stays as long as its dispatcher lives.
const nothingMoves = `(select count(*) from due) + (select count(*) from claimed_batch where ids <> '{}')
  + (select count(*) from later where at < now() + interval '10 min')`
const allIsReported = `${nothingMoves} + (select count(*) from message where code = 100 and msisdn % 100 <> 94)`

/** Until nothing is under way: what is left waits for a time to come, and everything that will be reported has been. */
async function settle({ database, figures }: Place, what: string): Promise<boolean> {
  const end = performance.now() + settleMilliseconds
  for (;;) {
    const [row] = await database.ask<{ n: string }>(`select ${what} n`)
    if (Number(row?.n) === 0) return true
    if (performance.now() > end) {
      figures.broken('P-4', `after ${settleMilliseconds} ms ${String(row?.n)} messages are under way or unreported`)
      return false
    }
    await delay(300)
  }
}

/** As many as the carrier's record says, or 30 s later: whether it is those is judged then. */
async function repliesHaveCome(database: Database, record: readonly Submission[]): Promise<void> {
  const wanted = record.filter(({ replies }) => replies !== undefined).length
  const end = performance.now() + 30_000
  while (performance.now() < end) {
    const [row] = await database.ask<{ n: string }>(
      `select count(*) n from inbound_message where text = 'Yes, thank you'`,
    )
    if (Number(row?.n) >= wanted) return
    await delay(300)
  }
}

/** Until the receipts of messages that have just been given a reference have found them, or 30 s later. */
async function adoptedAreMatched(database: Database): Promise<void> {
  const end = performance.now() + 30_000
  while (performance.now() < end) {
    const [row] = await database.ask<{ n: string }>(
      'select count(*) n from message where code = 106 and carrier_id is not null',
    )
    if (Number(row?.n) === 0) return
    await delay(300)
  }
}

const eventsAtOnce = `(select coalesce(sum(count), 0) from webhook_event)
  + (select count(*) from webhook_list where state = 0 and (leased or due_at < now() + interval '20 s'))`

/** Until nothing waits but what is to be tried again in minutes: a killed dispatcher's lists are free after a lease of 30 s. */
async function eventsHaveCome({ database, figures }: Place): Promise<void> {
  const end = performance.now() + settleMilliseconds
  for (;;) {
    const [row] = await database.ask<{ n: string }>(`select ${eventsAtOnce} n`)
    if (Number(row?.n) === 0) return
    if (performance.now() > end) {
      figures.broken('P-11', `after ${settleMilliseconds} ms ${String(row?.n)} events or lists are not pushed`)
      return
    }
    await delay(300)
  }
}

async function verify(gateway: Gateway, database: Database, figures: Figures): Promise<void> {
  const { code, out } = await gateway('credits', 'verify')
  if (code !== 0) figures.broken('P-2', `credits verify: ${out}`)
  for (const { id, balance, entries } of await wrongBalances(database)) {
    figures.broken('P-2', `account ${id} has ${balance}, and its entries say ${entries}`)
  }
  for (const { account } of await wrongScheduledCounts(database)) {
    figures.broken('P-12', `account ${account} has another number of scheduled messages than is counted`)
  }
}

interface Asking {
  readonly observations: Observations
  readonly members: readonly Member[]
  readonly accounts: readonly AccountUnderTest[]
  readonly clients: ReturnType<typeof createClients>
  readonly figures: Figures
  readonly state: Awaited<ReturnType<typeof readState>>
}

/** What clients are told when all is over is what is stored. */
async function askEverything({ observations, members, accounts, clients, figures, state }: Asking): Promise<void> {
  const url = members.find(({ app }) => app === 'rest')?.url() ?? ''
  for (const { id: account, key } of accounts) {
    const ids = [...observations.messages].filter(([, message]) => message.account === account).map(([id]) => id)
    for (let at = 0; at < ids.length; at += 1000) {
      const asked = ids.slice(at, at + 1000)
      const outcome = await askAgainIfLost(() => clients.interfaces.rest.status({ url, key }, asked))
      if (outcome.kind !== 'answered') figures.broken('P-14', `a status query when all was over: ${outcome.kind}`)
      else compare(asked, outcome.answer)
    }
    const balance = await askAgainIfLost(() => clients.restBalance({ url, key }))
    if (balance.kind !== 'answered' || Math.round(balance.answer * 10) !== state.balances.get(account)) {
      figures.broken('P-2', `account ${account} has ${String(state.balances.get(account))}: ${JSON.stringify(balance)}`)
    }
  }
  function compare(asked: readonly number[], codes: readonly number[]): void {
    for (const [i, id] of asked.entries()) {
      observations.status(id, codes[i] ?? NaN, performance.now())
      const stored = state.messages.get(id)?.code ?? -1
      if (codes[i] !== stored) figures.broken('P-1', `status of ${id} is ${String(codes[i])}, stored is ${stored}`)
    }
  }
}

async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${milliseconds} ms`)), milliseconds)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
