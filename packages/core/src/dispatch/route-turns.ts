import type { Clock, Instant } from '../time/instant.ts'
import type { CarrierId } from './carrier-id.ts'
import type { Availability } from './carrier.ts'
import type { ClaimedBatches, Lane } from './claimed-batches.ts'
import {
  noRoute,
  type PublishedRoute,
  type QueueNumber,
  type RouteNumber,
  type RouteQueue,
  type Routes,
} from '../routes/published-routes.ts'
import { overflowOf, type RouteCarrier } from '../routes/routes.ts'

/** A queue from which a carrier claims now. */
export interface ClaimableQueue {
  readonly queue: QueueNumber
  readonly route: RouteNumber
  /** Holds messages that no carrier of the route has refused for now; for probes. */
  readonly isFresh: boolean
  /**
   * All that claim from it, itself among them; none: it is nobody's but its own, or of no route. Those of its
   * priority share it by their weights, and those of a better one have the first go as long as they have room.
   */
  readonly claimers: readonly RouteCarrier[]
  /**
   * Seconds for which messages must have been due, because carriers of a better priority are available and full;
   * undefined: the carrier claims any.
   */
  readonly overflowSeconds: number | undefined
}

/** What decides whether messages go to a carrier of a worse priority although better ones are available. */
export interface Fullness {
  readonly lane: Lane
  readonly hasRoom: (carrier: CarrierId) => boolean
}

/**
 * The queues from which a carrier claims now, in the order of the routes. Of the carriers of a route the best that is
 * available claims, and those before it that take some: throttled, or probed. What one of them refused for now goes
 * to the others as long as there are any, and what waits for one is its own while it is up. A carrier that is down
 * claims nothing. Where every better carrier that is available has no room, the next ones claim what has waited for as
 * long as the route says. Without `fullness` nothing overflows.
 */
export function claimableQueues(
  routes: readonly PublishedRoute[],
  carrier: CarrierId,
  availabilityOf: (carrier: CarrierId) => Availability,
  fullness?: Fullness,
): readonly ClaimableQueue[] {
  if (availabilityOf(carrier) === 'down') return []
  if (routes.length === 0)
    return [{ queue: noRoute, route: noRoute, isFresh: true, claimers: [], overflowSeconds: undefined }]
  return routes.flatMap((published) => {
    const { number: route, carriers, queues } = published
    const own = carriers.find((one) => one.carrier === carrier)
    if (own === undefined) return []
    return queues.flatMap((one): readonly ClaimableQueue[] => {
      const { number: queue } = one
      const { claimers, others } = claimersOf(carriers, one, availabilityOf)
      const isFresh = one.refusedBy === undefined
      if (claimers.includes(own))
        return [{ queue, route, isFresh, claimers: claimers.length > 1 ? claimers : [], overflowSeconds: undefined }]
      if (fullness === undefined || !others.includes(own)) return []
      const overflowSeconds = overflowOf(published)[fullness.lane]
      const upToOwn = others.filter(({ priority }) => priority <= own.priority)
      const better = upToOwn.filter(({ priority }) => priority < own.priority)
      if (overflowSeconds === 'never' || better.some((each) => fullness.hasRoom(each.carrier))) return []
      return [{ queue, route, isFresh, claimers: upToOwn, overflowSeconds }]
    })
  })
}

/** The carriers that claim from a queue, and all that may take its messages and are up. */
function claimersOf(
  carriers: readonly RouteCarrier[],
  { refusedBy, onlyFor }: RouteQueue,
  availabilityOf: (carrier: CarrierId) => Availability,
): { readonly claimers: readonly RouteCarrier[]; readonly others: readonly RouteCarrier[] } {
  const up = carriers.filter(({ carrier }) => availabilityOf(carrier) !== 'down')
  const others = orAll(up, ({ carrier }) => (onlyFor === undefined ? carrier !== refusedBy : carrier === onlyFor))
  const available = others.filter(({ carrier }) => availabilityOf(carrier) === 'available')
  const best = Math.min(...available.map(({ priority }) => priority))
  return { claimers: others.filter(({ priority }) => priority <= best), others }
}

/** Those that are picked, or all if none is. */
function orAll<T>(all: readonly T[], picked: (one: T) => boolean): readonly T[] {
  const some = all.filter(picked)
  return some.length > 0 ? some : all
}

/** What becomes of a message of a queue that a carrier refused for now. */
export interface HandOver {
  /** Where it waits then; undefined: where it came from. */
  readonly queue: QueueNumber | undefined
  /** Whether another carrier takes it now. */
  readonly isTakenOver: boolean
}

export function handOver(
  routes: readonly PublishedRoute[],
  from: QueueNumber,
  refusedBy: CarrierId,
  availabilityOf: (carrier: CarrierId) => Availability,
): HandOver {
  const route = routeOf(routes, from)
  const queue = route?.queues.find((one) => one.refusedBy === refusedBy)?.number
  const isOther = ({ carrier }: RouteCarrier) => carrier !== refusedBy && availabilityOf(carrier) !== 'down'
  return { queue, isTakenOver: queue !== undefined && route !== undefined && route.carriers.some(isOther) }
}

/**
 * What becomes of a message of a queue whose sender only some carriers may be given: the best of them in the route has
 * it. Undefined: the route has none of them. `all`: the carriers where there are no routes.
 */
export function handOverToOneOf(
  routes: readonly PublishedRoute[],
  from: QueueNumber,
  registered: readonly CarrierId[],
  all: readonly CarrierId[],
  availabilityOf: (carrier: CarrierId) => Availability,
): HandOver | undefined {
  const route = routeOf(routes, from)
  const carriers = route?.carriers ?? all.map((carrier) => ({ carrier, priority: 1 }))
  const its = carriers.filter(({ carrier }) => registered.includes(carrier))
  const isUp = ({ carrier }: Pick<RouteCarrier, 'carrier'>): boolean => availabilityOf(carrier) !== 'down'
  const [best] = orAll(its, isUp).toSorted((a, b) => a.priority - b.priority)
  if (best === undefined) return undefined
  const queues = route?.queues ?? []
  const queue =
    queues.find(({ onlyFor }) => onlyFor === best.carrier) ??
    queues.find(({ refusedBy }) => refusedBy !== undefined && refusedBy !== best.carrier)
  return { queue: queue?.number, isTakenOver: isUp(best) }
}

const routeOf = (routes: readonly PublishedRoute[], queue: QueueNumber): PublishedRoute | undefined =>
  routes.find(({ queues }) => queues.some(({ number }) => number === queue))

/** A carrier of this process, as the others see it. */
export interface Peer {
  readonly carrier: CarrierId
  availability(): Availability
  /** Whether it would claim from the lane, or does. */
  hasRoom(lane: Lane): boolean
  /** What it may claim has changed. */
  changed(): void
}

/** A claim that may be made. */
export interface Turn {
  /** At most so many messages. */
  readonly messagesMax: number
  /** So many were claimed. */
  readonly done: (messages: number) => void
}

/** What the dispatchers of one process share: which of them claims from which queue now. */
export interface RouteTurns {
  /** Returns what ends it. */
  join(peer: Peer): () => void
  /**
   * Calls `wake` where it is the turn of a carrier that may not be looking; undefined: whenever any may claim other
   * queues than before.
   */
  onWake(carrier: CarrierId | undefined, wake: () => void): void
  claimable(carrier: CarrierId, lane: Lane): Promise<readonly ClaimableQueue[]>
  /** Undefined: it is the turn of another carrier, which is woken. */
  take(queue: ClaimableQueue, carrier: CarrierId, lane: Lane, messagesMax: number): Turn | undefined
  /** By the routes that were read last. */
  afterRefusal(queue: QueueNumber, by: CarrierId): HandOver
  /** By the routes that were read last; undefined: none of the queue's route is among these. */
  toOneOf(queue: QueueNumber, registered: readonly CarrierId[]): HandOver | undefined
  /** Whether another carrier of the queue's route is available and has room. */
  hasOther(queue: QueueNumber, than: CarrierId, lane: Lane): boolean
  /** The availability of a carrier has changed. */
  changed(): void
}

/** Of a queue that several carriers share so many messages are claimed in one round of all of them. */
const roundMessages = 200
/** Who has its turn and does not claim for so long is passed over until it claims. */
const patienceMilliseconds = 200

export function createRouteTurns(routes: Pick<Routes, 'list'>, clock: Clock): RouteTurns {
  const peers = new Map<CarrierId, Peer>()
  const wakes = new Map<CarrierId | undefined, () => void>()
  const shares = new Map<RouteNumber, ReturnType<typeof createShares>>()
  const first = createFirstGo()
  let known: readonly PublishedRoute[] = []
  let isKnown = false

  const availabilityOf = (carrier: CarrierId): Availability => peers.get(carrier)?.availability() ?? 'down'

  /** While the store is away those that were read last are good enough: what waits in others is moved. */
  async function list(): Promise<readonly PublishedRoute[]> {
    try {
      const read = await routes.list()
      isKnown = true
      return read
    } catch (problem) {
      if (isKnown) return known
      throw problem
    }
  }

  function sharesOf(route: RouteNumber) {
    const its = shares.get(route) ?? createShares()
    shares.set(route, its)
    return its
  }

  function wake(carrier: CarrierId): void {
    peers.get(carrier)?.changed()
    wakes.get(carrier)?.()
  }

  /** Whether a better one takes some of it now: what it has no room for is for the next. */
  function isBehind({ priority }: RouteCarrier, claimers: readonly RouteCarrier[], lane: Lane): boolean {
    const better = claimers.filter((one) => one.priority < priority)
    const ahead = better.find(({ carrier }) =>
      first.mayGo(carrier, lane, peers.get(carrier)?.hasRoom(lane) === true, clock.now()),
    )
    if (ahead !== undefined) wake(ahead.carrier)
    return ahead !== undefined
  }

  return {
    join(peer) {
      peers.set(peer.carrier, peer)
      return () => {
        if (peers.get(peer.carrier) === peer) peers.delete(peer.carrier)
      }
    },
    onWake: (carrier, told) => void wakes.set(carrier, told),
    async claimable(carrier, lane) {
      known = await list()
      const hasRoom = (one: CarrierId): boolean => peers.get(one)?.hasRoom(lane) === true
      return claimableQueues(known, carrier, availabilityOf, { lane, hasRoom })
    },
    take({ route, claimers }, carrier, lane, messagesMax) {
      const own = claimers.find((one) => one.carrier === carrier)
      if (own === undefined) return { messagesMax, done: () => undefined }
      if (isBehind(own, claimers, lane)) return undefined
      first.claimed(carrier, lane)
      const equals = claimers.filter(({ priority }) => priority === own.priority)
      const tellOthers = (): void => {
        for (const one of claimers) if (one !== own) peers.get(one.carrier)?.changed()
      }
      if (equals.length === 1) return { messagesMax, done: tellOthers }
      const its = sharesOf(route)
      const rivals = equals.filter((one) => one !== own && peers.get(one.carrier)?.hasRoom(lane) === true)
      const ahead = its.aheadOf(own, rivals, clock.now())
      if (ahead !== undefined) {
        wake(ahead.carrier)
        return undefined
      }
      const sum = equals.reduce((total, { weight }) => total + weight, 0)
      const most = Math.min(messagesMax, Math.max(1, Math.round((roundMessages * own.weight) / sum)))
      its.add(own, most)
      its.keepUp(equals, own, (2 * roundMessages) / sum)
      return {
        messagesMax: most,
        done: (messages) => {
          its.add(own, messages - most)
          tellOthers()
        },
      }
    },
    afterRefusal: (queue, by) => handOver(known, queue, by, availabilityOf),
    toOneOf: (queue, registered) => handOverToOneOf(known, queue, registered, [...peers.keys()], availabilityOf),
    hasOther: (queue, than, lane) =>
      known
        .filter(({ queues }) => queues.some(({ number }) => number === queue))
        .flatMap(({ carriers }) => carriers)
        .some(
          ({ carrier }) =>
            carrier !== than && availabilityOf(carrier) === 'available' && peers.get(carrier)?.hasRoom(lane) === true,
        ),
    changed() {
      for (const peer of peers.values()) peer.changed()
      wakes.get(undefined)?.()
    },
  }
}

interface Asking {
  readonly carrier: CarrierId
  readonly lane: Lane
  readonly messagesMax: number
  /** The queue that it claimed from last. */
  readonly after: QueueNumber
  /** The claim is for a probe: queues of messages that were refused before come last. */
  readonly isProbe: boolean
}

interface Chosen extends Pick<ClaimableQueue, 'queue' | 'overflowSeconds'> {
  readonly turn: Turn
}

/**
 * The next queue in which something waits and it is this carrier's turn. Where there is only one, nobody looks first.
 */
export async function chooseQueue(
  turns: RouteTurns,
  store: Pick<ClaimedBatches, 'queuesWithWork'>,
  { carrier, lane, messagesMax, after, isProbe }: Asking,
): Promise<Chosen | 'nothing' | 'turn-of-another'> {
  const claimable = await turns.claimable(carrier, lane)
  const [only] = claimable
  const isAlone = only === undefined || (claimable.length === 1 && only.claimers.length === 0)
  const numbers = claimable.map(({ queue }) => queue)
  const found = isAlone ? numbers : await store.queuesWithWork(lane, numbers)
  if (found.length === 0) return 'nothing'
  const from = found.findIndex((queue) => numbers.indexOf(queue) > numbers.indexOf(after))
  const inTurn = [...found.slice(Math.max(0, from)), ...found.slice(0, Math.max(0, from))]
  const isFresh = (queue: QueueNumber): boolean => claimable.some((one) => one.queue === queue && one.isFresh)
  const ordered = isProbe ? inTurn.toSorted((a, b) => Number(isFresh(b)) - Number(isFresh(a))) : inTurn
  for (const queue of ordered) {
    const at = claimable.find((one) => one.queue === queue)
    const turn = at && turns.take(at, carrier, lane, messagesMax)
    if (at !== undefined && turn !== undefined) return { queue, turn, overflowSeconds: at.overflowSeconds }
  }
  return 'turn-of-another'
}

/** Who has room and the first go, and does not claim for a while, is passed over until it claims or has no room. */
function createFirstGo() {
  const since = new Map<string, Instant>()
  const keyOf = (carrier: CarrierId, lane: Lane): string => `${carrier} ${lane}`
  return {
    mayGo(carrier: CarrierId, lane: Lane, hasRoom: boolean, now: Instant): boolean {
      const key = keyOf(carrier, lane)
      if (!hasRoom) since.delete(key)
      else if (!since.has(key)) since.set(key, now)
      return hasRoom && now - (since.get(key) ?? now) < patienceMilliseconds
    },
    claimed: (carrier: CarrierId, lane: Lane): void => void since.delete(keyOf(carrier, lane)),
  }
}

/** How much each carrier of a route has claimed, divided by its weight: the least has the next turn. */
function createShares() {
  const claimed = new Map<CarrierId, number>()
  const passedOver = new Set<CarrierId>()
  let turn: { readonly carrier: CarrierId; readonly since: Instant } | undefined

  const of = ({ carrier }: RouteCarrier): number => claimed.get(carrier) ?? Math.max(0, ...claimed.values())

  return {
    /** Who comes before `own`; undefined: nobody. */
    aheadOf(own: RouteCarrier, rivals: readonly RouteCarrier[], now: Instant): RouteCarrier | undefined {
      const ahead = rivals.filter((one) => !passedOver.has(one.carrier) && of(one) < of(own))
      const first = ahead.toSorted((a, b) => of(a) - of(b))[0]
      if (first === undefined) return undefined
      if (turn?.carrier !== first.carrier) turn = { carrier: first.carrier, since: now }
      if (now - turn.since < patienceMilliseconds) return first
      passedOver.add(first.carrier)
      turn = undefined
      return undefined
    },
    add(own: RouteCarrier, messages: number): void {
      claimed.set(own.carrier, of(own) + messages / own.weight)
      passedOver.delete(own.carrier)
      if (turn?.carrier === own.carrier) turn = undefined
    },
    /** Who had no room for a while does not get all of it afterwards. */
    keepUp(equals: readonly RouteCarrier[], own: RouteCarrier, most: number): void {
      for (const one of equals) claimed.set(one.carrier, Math.max(of(one), of(own) - most))
    },
  }
}
