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

/** A queue from which a carrier may claim now. */
export interface ClaimableQueue {
  readonly queue: QueueNumber
  readonly route: RouteNumber
  /** True if the queue holds messages that no carrier of the route has refused for now; preferred for probes. */
  readonly isFresh: boolean
  /**
   * Carriers that claim from the queue, including this one; empty if no other carrier does. Carriers of equal priority
   * share the queue by weight; carriers of a better priority come first as long as they have room.
   */
  readonly claimers: readonly RouteCarrier[]
  /**
   * Seconds for which a message must have been due to overflow to this carrier, because the carriers of a better
   * priority are available but full; undefined if the carrier claims any message.
   */
  readonly overflowSeconds: number | undefined
}

/**
 * Facts that decide whether messages overflow to a carrier of a worse priority although better carriers are available.
 */
export interface Fullness {
  readonly lane: Lane
  readonly hasRoom: (carrier: CarrierId) => boolean
}

/**
 * Returns the queues from which a carrier claims now, in the order of the routes. The best available carriers of a
 * route claim, and the throttled or probing ones of a better priority. Messages that one carrier refused for now go to
 * the others as long as there are any, and messages for one carrier only go to it while it is up. A carrier that is
 * down claims nothing. If every better available carrier has no room, the next ones claim messages that have waited as
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

/** Returns the carriers that claim from a queue, and all that are up and may get its messages. */
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

/** Returns the picked elements, or all if none is picked. */
function orAll<T>(all: readonly T[], picked: (one: T) => boolean): readonly T[] {
  const some = all.filter(picked)
  return some.length > 0 ? some : all
}

/** Where a message goes that a carrier refused for now. */
export interface HandOver {
  /** Queue in which the message waits; undefined: its previous queue. */
  readonly queue: QueueNumber | undefined
  /** True if another carrier would accept the message now. */
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
 * Returns where a message goes whose sender only the `registered` carriers may be given: to the best of them in its
 * route. Undefined if the route has none. `all` lists the carriers for messages without routes.
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
  const eligible = carriers.filter(({ carrier }) => registered.includes(carrier))
  const isUp = ({ carrier }: Pick<RouteCarrier, 'carrier'>): boolean => availabilityOf(carrier) !== 'down'
  const [best] = orAll(eligible, isUp).toSorted((a, b) => a.priority - b.priority)
  if (best === undefined) return undefined
  const queues = route?.queues ?? []
  const queue =
    queues.find(({ onlyFor }) => onlyFor === best.carrier) ??
    queues.find(({ refusedBy }) => refusedBy !== undefined && refusedBy !== best.carrier)
  return { queue: queue?.number, isTakenOver: isUp(best) }
}

const routeOf = (routes: readonly PublishedRoute[], queue: QueueNumber): PublishedRoute | undefined =>
  routes.find(({ queues }) => queues.some(({ number }) => number === queue))

/** A carrier of this process as the other carriers see it. */
export interface Peer {
  readonly carrier: CarrierId
  availability(): Availability
  /** Returns true if the carrier would claim from the lane, or is claiming. */
  hasRoom(lane: Lane): boolean
  /** Notifies the carrier that it may claim other messages than before. */
  changed(): void
}

/** Permission for one claim. */
export interface Turn {
  /** Maximum number of messages to claim. */
  readonly messagesMax: number
  /** Reports how many messages were claimed. */
  readonly done: (messages: number) => void
}

/** Decides, for the dispatchers of one process, which carrier claims from which queue now. */
export interface RouteTurns {
  /** Adds a carrier; returns a function that removes it. */
  join(peer: Peer): () => void
  /**
   * Registers `wake`, called when it is the turn of a carrier that may be idle; with `carrier` undefined, called
   * whenever any carrier may claim from other queues than before.
   */
  onWake(carrier: CarrierId | undefined, wake: () => void): void
  claimable(carrier: CarrierId, lane: Lane): Promise<readonly ClaimableQueue[]>
  /** Returns the permission to claim; undefined if it is the turn of another carrier, which is woken. */
  take(queue: ClaimableQueue, carrier: CarrierId, lane: Lane, messagesMax: number): Turn | undefined
  /** Returns where a refused message goes, by the routes that were read last. */
  afterRefusal(queue: QueueNumber, by: CarrierId): HandOver
  /**
   * Returns where a message for registered carriers goes, by the routes that were read last; undefined if none of them
   * is in the route of the queue.
   */
  toOneOf(queue: QueueNumber, registered: readonly CarrierId[]): HandOver | undefined
  /** Returns true if another carrier of the queue's route is available and has room. */
  hasOther(queue: QueueNumber, than: CarrierId, lane: Lane): boolean
  /** Notifies all carriers that the availability of one has changed. */
  changed(): void
}

/** Messages claimed in one round of all carriers that share a queue. */
const roundMessages = 200
/** Milliseconds after which a carrier that has its turn and does not claim is passed over until it claims. */
const patienceMilliseconds = 200

export function createRouteTurns(routes: Pick<Routes, 'list'>, clock: Clock): RouteTurns {
  const peers = new Map<CarrierId, Peer>()
  const wakes = new Map<CarrierId | undefined, () => void>()
  const shares = new Map<RouteNumber, ReturnType<typeof createShares>>()
  const first = createFirstGo()
  let known: readonly PublishedRoute[] = []
  let isKnown = false

  const availabilityOf = (carrier: CarrierId): Availability => peers.get(carrier)?.availability() ?? 'down'

  /**
   * Lists the routes. If the store fails, the routes read last are good enough, because messages of other queues are
   * moved later.
   */
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
    const shared = shares.get(route) ?? createShares()
    shares.set(route, shared)
    return shared
  }

  function wake(carrier: CarrierId): void {
    peers.get(carrier)?.changed()
    wakes.get(carrier)?.()
  }

  /**
   * Returns true if a better carrier has room for messages of the queue now. Messages beyond its room are for the next
   * carrier.
   */
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
    onWake: (carrier, wakeUp) => void wakes.set(carrier, wakeUp),
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
      const notifyOthers = (): void => {
        for (const one of claimers) if (one !== own) peers.get(one.carrier)?.changed()
      }
      if (equals.length === 1) return { messagesMax, done: notifyOthers }
      const shared = sharesOf(route)
      const rivals = equals.filter((one) => one !== own && peers.get(one.carrier)?.hasRoom(lane) === true)
      const ahead = shared.aheadOf(own, rivals, clock.now())
      if (ahead !== undefined) {
        wake(ahead.carrier)
        return undefined
      }
      const sum = equals.reduce((total, { weight }) => total + weight, 0)
      const most = Math.min(messagesMax, Math.max(1, Math.round((roundMessages * own.weight) / sum)))
      shared.add(own, most)
      shared.keepUp(equals, own, (2 * roundMessages) / sum)
      return {
        messagesMax: most,
        done: (messages) => {
          shared.add(own, messages - most)
          notifyOthers()
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

interface ClaimRequest {
  readonly carrier: CarrierId
  readonly lane: Lane
  readonly messagesMax: number
  /** Queue of the last claim. */
  readonly after: QueueNumber
  /** True if the claim is for a probe, for which queues of refused messages come last. */
  readonly isProbe: boolean
}

interface Chosen extends Pick<ClaimableQueue, 'queue' | 'overflowSeconds'> {
  readonly turn: Turn
}

/**
 * Returns the next queue with waiting messages in which it is this carrier's turn. A single queue is not checked for
 * messages first.
 */
export async function chooseQueue(
  turns: RouteTurns,
  store: Pick<ClaimedBatches, 'queuesWithWork'>,
  { carrier, lane, messagesMax, after, isProbe }: ClaimRequest,
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

/**
 * Passes over a carrier of a better priority that has room but does not claim for a while, until it claims or has no
 * room.
 */
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

/**
 * Counts the messages that each carrier of a route has claimed, divided by its weight: the carrier with the least has
 * the next turn.
 */
function createShares() {
  const claimed = new Map<CarrierId, number>()
  const passedOver = new Set<CarrierId>()
  let turn: { readonly carrier: CarrierId; readonly since: Instant } | undefined

  const of = ({ carrier }: RouteCarrier): number => claimed.get(carrier) ?? Math.max(0, ...claimed.values())

  return {
    /** Returns the carrier that has its turn before `own`; undefined if there is none. */
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
    /**
     * Limits how far the counts of other carriers lag behind, so that a carrier that had no room for a while does not
     * get all messages afterwards.
     */
    keepUp(equals: readonly RouteCarrier[], own: RouteCarrier, most: number): void {
      for (const one of equals) claimed.set(one.carrier, Math.max(of(one), of(own) - most))
    },
  }
}
