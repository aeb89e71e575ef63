import { setTimeout as delay } from 'node:timers/promises'
import type { CarrierMode } from '@gateway/core/dispatch'
import type { Chance } from '@gateway/core/testing'
import type { CarrierOfRun, Trouble } from './carrier.ts'
import type { App, Member } from './processes.ts'
import type { Database } from './database.ts'
import type { Figures } from './figures.ts'
import type { Liveness } from './liveness.ts'
import { isPlain, type RunningLoad } from './load.ts'
import { wheres, type Relay } from './network.ts'
import { missingIds } from './state.ts'
import type { Observations } from './observations.ts'

export interface Injecting {
  readonly chance: Chance
  readonly figures: Figures
  readonly load: Pick<RunningLoad, 'sendOne' | 'sendSingles'>
  readonly members: readonly Member[]
  readonly database: Database
  readonly observations: Observations
  readonly liveness: Liveness
  readonly carrier: CarrierOfRun
  /** Kinds of faults to inject. An empty list means all kinds. */
  readonly only: readonly string[]
  readonly log: (line: string) => void
  /** Sets the mode of a carrier. Returns false if it could not be set. */
  readonly setMode: (carrier: string, mode: CarrierMode) => Promise<boolean>
  readonly leaseSeconds: number
  /** End of the load, by performance.now(). */
  readonly end: number
  readonly secondsBetween: number
}

/**
 * Kinds of faults. A kind that is listed n times occurs n times in each deal. A run deals the whole deck again and
 * again until it ends.
 */
const deck = [
  ...Array.from({ length: 3 }, () => 'kill a dispatcher' as const),
  ...Array.from({ length: 2 }, () => 'kill a server' as const),
  ...Array.from({ length: 3 }, () => 'pause a dispatcher beyond its lease' as const),
  'pause a server' as const,
  ...Array.from({ length: 4 }, () => 'cut connections' as const),
  ...Array.from({ length: 12 }, () => 'cut at a statement' as const),
  ...Array.from({ length: 4 }, () => 'kill at a statement' as const),
  'stall a network' as const,
  'PostgreSQL: fast' as const,
  'PostgreSQL: immediate' as const,
  'PostgreSQL: crash of a backend' as const,
  ...Array.from({ length: 2 }, () => 'PostgreSQL: kill -9 of all of it' as const),
]

/** Additional kinds if the carrier is another process. */
const deckOfLinks = [
  ...Array.from({ length: 3 }, () => 'cut the carrier’s links' as const),
  ...Array.from({ length: 6 }, () => 'cut a carrier’s link at a PDU' as const),
  ...Array.from({ length: 2 }, () => 'stall a carrier’s link' as const),
  'kill the carrier' as const,
]

/** Additional kinds if the route has two carriers. */
const deckOfRoute = [
  ...Array.from({ length: 2 }, () => 'pause a carrier' as const),
  ...Array.from({ length: 2 }, () => 'silence the best carrier' as const),
  'fill the best carrier' as const,
  'refuse numbers for now' as const,
]

/** Additional kinds if there are SMPP customers. */
const deckOfCustomers = Array.from({ length: 3 }, () => 'kill the SMPP server' as const)

type Fault = (typeof deck | typeof deckOfLinks | typeof deckOfRoute | typeof deckOfCustomers)[number]

/** Number of the latest ids whose existence is checked after the database was killed. */
const idsLookedAt = 3000

/**
 * Names of statements of dispatchers and servers. Connections are cut at a random one, so a statement that is listed
 * twice is cut twice as often.
 */
const ofDispatchers = [
  ...['mark', 'mark', 'record', 'record', 'record-late', 'record-late', 'settle', 'postpone', 'claim-bulk'],
  ...['claim-single', 'extend', 'recover', 'apply-receipts-0', 'promote', 'register', 'match-receipts', 'commit'],
]
const ofServers = [
  ...['accept', 'accept', 'accept', 'accept-scheduled', 'accept-scheduled', 'commit', 'commit'],
  'lock-account',
  'find-sends',
  'find-outcomes',
  ...['delete-waiting', 'delete-waiting', 'find-deleted', 'transfer', 'transfer', 'find-operation'],
]
const ofSmppServers = [
  ...['accept-held', 'accept-held', 'accept-held', 'release-held-sends', 'add-smpp-parts', 'add-smpp-parts'],
  ...['waiting-smpp-parts', 'lock-smpp-parts', 'join-smpp-parts', 'commit', 'commit'],
  ...['claim-smpp-deliveries', 'settle-smpp-deliveries', 'settle-smpp-deliveries'],
]

/** Returns the names of statements at which connections of a process are cut. */
const statementsOf = (app: App): readonly string[] =>
  app === 'dispatcher' ? ofDispatchers : app === 'smpp' ? ofSmppServers : ofServers

/** Statements after which a process is killed. */
const fatal = {
  dispatcher: ['mark', 'record', 'record-late', 'settle', 'claim-bulk', 'postpone'],
  smpp: ['accept-held', 'add-smpp-parts', 'join-smpp-parts', 'claim-smpp-deliveries', 'settle-smpp-deliveries'],
  server: ['accept', 'accept-scheduled', 'delete-waiting', 'transfer'],
} as const

/**
 * Probability with which each of these statements is lost in addition to the injected faults. The process must then
 * repeat the statement or look up its result.
 */
const flaky = {
  dispatcher: { probability: 0.2, statements: ['record-late', 'settle', 'postpone'] },
  server: { probability: 0.05, statements: ['accept', 'accept-scheduled', 'delete-waiting', 'transfer'] },
  smpp: {
    probability: 0.05,
    statements: ['accept-held', 'add-smpp-parts', 'join-smpp-parts', 'settle-smpp-deliveries'],
  },
}

const groupOf = ({ app }: Pick<Member, 'app'>) => (app === 'dispatcher' || app === 'smpp' ? app : 'server')

/** Faults that must have happened in every run, including a short run on a busy machine. */
export const needed: readonly Fault[] = [
  'kill a dispatcher',
  'pause a dispatcher beyond its lease',
  'cut at a statement',
  'PostgreSQL: kill -9 of all of it',
]

/** Fault that must also have happened in every run with SMPP customers. */
export const neededOfCustomers: readonly Fault[] = ['kill the SMPP server']

/** Faults that must also have happened in every run over SMPP. */
export const neededOfLinks: readonly Fault[] = [
  'cut the carrier’s links',
  'cut a carrier’s link at a PDU',
  'kill the carrier',
  'pause a carrier',
  'silence the best carrier',
]

/**
 * Milliseconds of a pause of a carrier. They exceed the standstill that P-17 allows, so the other carrier must take
 * over.
 */
const pauseMilliseconds = 8000
/** Milliseconds within which a process applies the pause of a carrier even if it missed the notification. */
const followMilliseconds = 5500
const silenceMilliseconds = 6000
/** Milliseconds for which carriers refuse numbers. */
const refusingMilliseconds = 8000
/**
 * Seconds of messages at the best carrier's rate that are sent to fill this carrier. Some of them are claimed ahead and
 * do not overflow to the next carrier.
 */
const fillSeconds = 20
/**
 * Milliseconds within which the next carrier must have received one of the messages that fill the best carrier. The
 * `overflow` of the route takes 2 s, and the rest is the time within which a due message is submitted (P-17).
 */
const overflowMilliseconds = 7000
/** Maximum number of messages that a dispatcher may submit to a carrier that falls silent. The window is larger. */
const silenceCost = 35

/** Figure that counts submissions of SMPP customers that were answered with an id. */
const answeredWithId = 'SMPP: submissions answered an id'

const noTrouble: Trouble = { submitted: new Map() }
const noNumbers: ReadonlySet<string> = new Set()

/** Injects one fault after the other at random moments until the end, and waits until every fault is over. */
export async function injectFaults(injecting: Injecting): Promise<void> {
  const { chance, figures, members, database, leaseSeconds, observations, liveness, carrier } = injecting
  const dispatchers = members.filter(({ app }) => app === 'dispatcher')
  const servers = members.filter(({ app }) => app !== 'dispatcher')
  const smppServers = members.filter(({ app }) => app === 'smpp')
  const pauses: Promise<void>[] = []

  function pause(member: Member, milliseconds: number): void {
    member.pause(milliseconds)
    pauses.push(delay(milliseconds))
  }

  const injections: Readonly<Record<Fault, () => unknown>> = {
    'kill a dispatcher': () => chance.one(dispatchers).kill(),
    'kill the SMPP server': killSmppServer,
    'kill a server': () => chance.one(servers).kill(),
    'pause a dispatcher beyond its lease': async () => {
      await untilBothAreBusy()
      pause(chance.one(dispatchers), (leaseSeconds + chance.between(1.5, 4)) * 1000)
    },
    'pause a server': () => pause(chance.one(servers), chance.between(500, 5000)),
    'cut connections': () => chance.one(members).network.cut(),
    'cut at a statement': cutAtStatements,
    'kill at a statement': killAtStatement,
    'stall a network': () => stall(chance.one(members), chance.between(500, (leaseSeconds + 3) * 1000)),
    'PostgreSQL: fast': () => database.restart('fast'),
    'PostgreSQL: immediate': () => database.restart('immediate'),
    'PostgreSQL: crash of a backend': () => database.restart('crash of a backend'),
    'PostgreSQL: kill -9 of all of it': killDatabase,
    'cut the carrier’s links': () => links().forEach((link) => link.cut()),
    'cut a carrier’s link at a PDU': () =>
      links().forEach((link) => link.cutAt(chance.one(wheres), chance.one(carrier.marks))),
    'stall a carrier’s link': () => {
      const milliseconds = chance.between(500, 9000)
      chance.one(links()).stall(milliseconds)
      pauses.push(delay(milliseconds))
    },
    'kill the carrier': () => carrier.kill?.(),
    'pause a carrier': pauseCarrier,
    'silence the best carrier': silenceCarrier,
    'fill the best carrier': fillCarrier,
    'refuse numbers for now': async () => carrier.troubles?.refuseNumbers(refusingMilliseconds),
  }

  /** Returns true if no other fault has affected the dispatcher since this time. */
  const isUndisturbed = (name: string, since: number): boolean =>
    dispatchers.some((one) => one.name === name && one.undisturbedSince() < since)

  /** Asserts that no message is submitted to a paused carrier, and that the other carrier gets all messages (P-17). */
  async function pauseCarrier(): Promise<void> {
    const name = chance.one(carrier.troubles?.names ?? [])
    calm()
    const began = performance.now()
    if (!(await injecting.setMode(name, 'paused'))) return
    await delay(pauseMilliseconds)
    const milliseconds = pauseMilliseconds - followMilliseconds
    const { submitted } = (await carrier.troubles?.paused(name, milliseconds)) ?? noTrouble
    for (const [member, count] of submitted) {
      if (isUndisturbed(member, began + 500))
        figures.broken('P-17', `${member} submitted ${count} to ${name}, which is paused`)
    }
    while (!(await injecting.setMode(name, 'running'))) await delay(200)
    if (injecting.only.length === 0) makeFlaky()
  }

  /** Asserts that a dispatcher submits only a few messages to a silent carrier, not a full window after each probe. */
  async function silenceCarrier(): Promise<void> {
    calm()
    const { submitted } = (await carrier.troubles?.silence(silenceMilliseconds)) ?? noTrouble
    for (const [member, count] of submitted) {
      figures.most('most messages that a dispatcher gave to a silent carrier', count)
      if (count > silenceCost) figures.broken('P-17', `${member} submitted ${count} to a carrier that answers nothing`)
    }
    if (injecting.only.length === 0) makeFlaky()
  }

  /**
   * Sends more single messages than the best carrier accepts in time. The next carrier must receive some of the waiting
   * messages (P-17). Judges this only if both carriers have received messages since the start.
   */
  async function fillCarrier(): Promise<void> {
    const { troubles } = carrier
    if (troubles === undefined) return
    calm()
    await liveness.shown()
    const began = Date.now()
    const numbers = await injecting.load.sendSingles(fillSeconds * troubles.bestPerSecond)
    const sent = Date.now()
    const look = async () => {
      const [best = noNumbers, next = noNumbers] = await troubles.received(sent)
      const [, nextBefore = noNumbers] = await troubles.received(began)
      const isUp = best.size > 0 && nextBefore.size > 0
      const isFull = [...numbers].some((number) => !best.has(number))
      return { isUp, isFull, tookOver: [...next].some(isPlain) }
    }
    let seen = await look()
    while (seen.isFull && !seen.tookOver && Date.now() - sent < overflowMilliseconds) {
      await delay(250)
      seen = await look()
    }
    if (seen.tookOver) {
      figures.count('full carriers that handed over')
      figures.most('longest ms until a full carrier handed over', Date.now() - sent)
    } else if (seen.isUp && seen.isFull)
      figures.broken(
        'P-17',
        `single sends wait for a full carrier, and the next has none after ${overflowMilliseconds} ms`,
      )
    if (injecting.only.length === 0) makeFlaky()
  }

  function links(): Relay[] {
    return dispatchers.flatMap(({ carrierLink }) => carrierLink ?? [])
  }

  /**
   * Waits up to 4 s until both dispatchers have claimed messages that may not be submitted yet. A pause at that moment
   * is most likely to reveal errors.
   */
  async function untilBothAreBusy(): Promise<void> {
    const end = performance.now() + 4000
    while (performance.now() < end) {
      const [row] = await database.ask<{ n: string }>(
        'select count(distinct dispatcher) n from claimed_batch where cardinality(ids) > marked',
      )
      if (Number(row?.n) >= dispatchers.length) return
      await delay(100)
    }
  }

  /** Kills an SMPP server while customers get answers from it, at the latest after 10 s. */
  async function killSmppServer(): Promise<void> {
    const answered = () => figures.of(answeredWithId)
    const [before, end] = [answered(), performance.now() + 10_000]
    while (answered() < before + 10 && performance.now() < end) await delay(20)
    chance.one(smppServers).kill()
  }

  function stall(member: Member, milliseconds: number): void {
    member.network.stall(milliseconds)
    pauses.push(delay(milliseconds))
  }

  function cutAtStatements(): void {
    for (const { app, network } of members) {
      if (!chance.happens(0.7)) continue
      network.cutAt(chance.one(wheres), chance.one(statementsOf(app)))
    }
  }

  /** Kills the process after it has sent a statement and before the answer arrives. This rarely happens by chance. */
  function killAtStatement(): void {
    const member = chance.one([chance.one(dispatchers), chance.one(servers), ...smppServers])
    member.network.cutAt(chance.one(wheres), chance.one(fatal[groupOf(member)]), () => member.kill())
  }

  /**
   * Kills the database at the moment when a client has received an id. Data that is not on the disk by then is lost
   * (P-1).
   */
  async function killDatabase(): Promise<void> {
    let isKilled = false
    const kill = (): void => {
      if (!isKilled) database.killAll()
      isKilled = true
    }
    const idReceived = new Promise<void>((resolve) =>
      observations.onceAccepted(() => {
        kill()
        resolve()
      }),
    )
    // No id may be received within 5 s, because the backlog is full or the load has ended. The database is then killed
    // anyway.
    await Promise.race([idReceived, delay(5000)])
    kill()
    const ids = [...observations.messages.keys()].slice(-idsLookedAt)
    await database.back()
    for (const id of await missingIds(database, ids)) {
      figures.broken('P-1', `id ${id} was accepted, and is gone after kill -9 of all of PostgreSQL`)
    }
  }

  function makeFlaky(): void {
    for (const { app, network } of members) {
      const { probability, statements } = flaky[groupOf({ app })]
      network.flaky(probability, statements)
    }
  }

  function calm(): void {
    for (const { network, carrierLink } of members) {
      network.calm()
      carrierLink?.calm()
    }
  }

  /** Injects nothing else until each dispatcher was seen to submit again (P-17). */
  async function showLiveness(fault: string): Promise<void> {
    calm()
    const isShown = await liveness.shown()
    if (injecting.only.length === 0) makeFlaky()
    injecting.log(`liveness ${isShown ? 'shown' : 'not judged'}`)
    figures.count(`liveness ${isShown ? 'shown' : 'not judged'} after: ${fault}`)
  }
  if (injecting.only.length === 0) makeFlaky()
  const ofRoute = carrier.troubles === undefined ? [] : deckOfRoute
  const ofLinks = carrier.kill === undefined ? [] : deckOfLinks
  const all = [...deck, ...ofLinks, ...ofRoute, ...(smppServers.length === 0 ? [] : deckOfCustomers)]
  const possible = all.filter((kind) => injecting.only.length === 0 || injecting.only.includes(kind))
  if (possible.length === 0) throw new Error(`there is no such fault; there are ${[...new Set(all)].join(', ')}`)
  // The first deal has one fault of each kind, so that a short run meets all kinds. The needed kinds are injected
  // first, because a slow run may not meet the others.
  const kinds = chance.shuffled([...new Set(possible)])
  const isNeeded = (kind: Fault): boolean =>
    [needed, neededOfLinks, neededOfCustomers].some((all) => all.includes(kind))
  let dealt = [...kinds.filter((kind) => !isNeeded(kind)), ...kinds.filter(isNeeded)]
  const lacksNeeded = (): boolean => kinds.some((kind) => isNeeded(kind) && figures.of(`fault: ${kind}`) === 0)
  while (performance.now() < injecting.end) {
    if (dealt.length === 0) dealt = chance.shuffled(possible)
    const fault = dealt.pop()
    if (fault === undefined) continue
    figures.count(`fault: ${fault}`)
    injecting.log(fault)
    await injections[fault]()
    const isFirstOfDatabase = figures.of(`fault: ${fault}`) === 1 && fault.startsWith('PostgreSQL')
    if (chance.happens(isFirstOfDatabase ? 1 : lacksNeeded() ? 0 : 0.35)) await showLiveness(fault)
    await delay(chance.between(0.3, 1.7) * injecting.secondsBetween * 1000)
  }
  calm()
  await Promise.all(pauses)
}
