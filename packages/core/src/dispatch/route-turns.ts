import type { Clock, Instant } from '../time/instant.ts'
import type { CarrierId } from './carrier-id.ts'
import type { Availability } from './carrier.ts'
import type { ClaimedBatches, Lane } from './claimed-batches.ts'
import { claimableQueues, handOver, handOverToOneOf, type ClaimableQueue, type HandOver } from './claimable-queues.ts'
import type { PublishedRoute, QueueNumber, RouteNumber, Routes } from '../routes/published-routes.ts'
import type { RouteCarrier } from '../routes/routes.ts'

/** A carrier of this process as the other carriers see it. */
export interface Peer {
  readonly carrier: CarrierId
  availability(): Availability
  /** Returns true if the carrier would claim from the lane, or is claiming. */
  hasRoom(lane: Lane): boolean
  /** Notifies the carrier that it may claim other messages than before. */
  changed(): void
}

/** Right to make one claim. */
export interface Turn {
  /** Maximum number of messages to claim. */
  readonly messagesMax: number
  /** Reports how many messages were claimed. */
  readonly done: (messages: number) => void
}

/** Number of messages that all carriers of a shared queue claim in one round. */
const roundMessages = 200
/**
 * Milliseconds that a carrier whose turn it is has to claim. After that the other carriers pass it over until it
 * claims.
 */
const patienceMilliseconds = 200

/**
 * Decides, for the dispatchers of one process, which carrier claims from which queue now. It uses the routes that it
 * read last. Carriers of a better priority come first as long as they have room and claim; carriers of equal priority
 * share the messages by weight. A carrier that does not claim when it is its turn is passed over until it claims.
 */
export class RouteTurns {
  readonly #routes: Pick<Routes, 'list'>
  readonly #clock: Clock
  readonly #peers = new Map<CarrierId, Peer>()
  readonly #wakes = new Map<CarrierId | undefined, () => void>()
  readonly #shares = new Map<RouteNumber, Shares>()
  readonly #first = new FirstGo()
  /** Routes that were read last; undefined before the first read. */
  #read: readonly PublishedRoute[] | undefined

  constructor(routes: Pick<Routes, 'list'>, clock: Clock) {
    this.#routes = routes
    this.#clock = clock
  }

  /** Adds a carrier; returns a function that removes it. */
  join(peer: Peer): () => void {
    this.#peers.set(peer.carrier, peer)
    return () => {
      if (this.#peers.get(peer.carrier) === peer) this.#peers.delete(peer.carrier)
    }
  }

  /**
   * Registers `wake`. With a carrier, `wake` is called when it is that carrier's turn, because the carrier may be idle.
   * With `carrier` undefined, `wake` is called whenever any carrier may claim from other queues than before.
   */
  onWake(carrier: CarrierId | undefined, wake: () => void): void {
    this.#wakes.set(carrier, wake)
  }

  /** Notifies all carriers that the availability of one carrier has changed. */
  changed(): void {
    for (const peer of this.#peers.values()) peer.changed()
    this.#wakes.get(undefined)?.()
  }

  async claimable(carrier: CarrierId, lane: Lane): Promise<readonly ClaimableQueue[]> {
    const routes = (this.#read = await this.#list())
    const hasRoom = (one: CarrierId): boolean => this.#hasRoom(one, lane)
    return claimableQueues(routes, carrier, this.#availabilityOf, { lane, hasRoom })
  }

  /**
   * Returns the permission to claim. If it is the turn of another carrier, wakes that carrier and returns undefined.
   */
  take({ route, claimers }: ClaimableQueue, carrier: CarrierId, lane: Lane, messagesMax: number): Turn | undefined {
    const own = claimers.find((one) => one.carrier === carrier)
    if (own === undefined) return { messagesMax, done: () => undefined }
    if (this.#isBehind(own, claimers, lane)) return undefined
    this.#first.claimed(carrier, lane)
    const notifyOthers = (): void => {
      for (const one of claimers) if (one !== own) this.#peers.get(one.carrier)?.changed()
    }
    const equals = claimers.filter(({ priority }) => priority === own.priority)
    if (equals.length === 1) return { messagesMax, done: notifyOthers }
    return this.#takeShare(route, own, equals, lane, messagesMax, notifyOthers)
  }

  /**
   * Returns the permission to claim for a carrier that shares the queue with carriers of equal priority. Returns
   * undefined if it is the turn of another carrier.
   */
  #takeShare(
    route: RouteNumber,
    own: RouteCarrier,
    equals: readonly RouteCarrier[],
    lane: Lane,
    messagesMax: number,
    notifyOthers: () => void,
  ): Turn | undefined {
    const shares = this.#sharesOf(route)
    const rivals = equals.filter((one) => one !== own && this.#hasRoom(one.carrier, lane))
    const ahead = shares.aheadOf(own, rivals, this.#clock.now())
    if (ahead !== undefined) {
      this.#wake(ahead.carrier)
      return undefined
    }
    const sum = equals.reduce((total, { weight }) => total + weight, 0)
    const most = Math.min(messagesMax, Math.max(1, Math.round((roundMessages * own.weight) / sum)))
    shares.add(own, most)
    shares.keepUp(equals, own, (2 * roundMessages) / sum)
    return {
      messagesMax: most,
      done: (messages) => {
        shares.add(own, messages - most)
        notifyOthers()
      },
    }
  }

  // Messages that are handed to another carrier. These methods use the routes that were read last.

  /** Returns where a refused message goes. */
  afterRefusal(queue: QueueNumber, by: CarrierId): HandOver {
    return handOver(this.#read ?? [], queue, by, this.#availabilityOf)
  }

  /**
   * Returns where a message goes that only the `registered` carriers may send. Returns undefined if none of these
   * carriers is in the route of the queue.
   */
  toOneOf(queue: QueueNumber, registered: readonly CarrierId[]): HandOver | undefined {
    return handOverToOneOf(this.#read ?? [], queue, registered, [...this.#peers.keys()], this.#availabilityOf)
  }

  /** Returns true if another carrier of the queue's route is available and has room. */
  hasOther(queue: QueueNumber, than: CarrierId, lane: Lane): boolean {
    return (this.#read ?? [])
      .filter(({ queues }) => queues.some(({ number }) => number === queue))
      .flatMap(({ carriers }) => carriers)
      .some(
        ({ carrier }) =>
          carrier !== than && this.#availabilityOf(carrier) === 'available' && this.#hasRoom(carrier, lane),
      )
  }

  #availabilityOf = (carrier: CarrierId): Availability => this.#peers.get(carrier)?.availability() ?? 'down'

  #hasRoom(carrier: CarrierId, lane: Lane): boolean {
    return this.#peers.get(carrier)?.hasRoom(lane) === true
  }

  /**
   * Lists the routes. If the store fails, returns the routes that were read last. Outdated routes are acceptable here,
   * because messages of other queues are moved later.
   */
  async #list(): Promise<readonly PublishedRoute[]> {
    try {
      return await this.#routes.list()
    } catch (problem) {
      if (this.#read !== undefined) return this.#read
      throw problem
    }
  }

  #sharesOf(route: RouteNumber): Shares {
    const shares = this.#shares.get(route) ?? new Shares()
    this.#shares.set(route, shares)
    return shares
  }

  #wake(carrier: CarrierId): void {
    this.#peers.get(carrier)?.changed()
    this.#wakes.get(carrier)?.()
  }

  /**
   * Returns true if a carrier of a better priority has room for messages of the queue now. The next carrier claims only
   * the messages for which the better carriers have no room.
   */
  #isBehind({ priority }: RouteCarrier, claimers: readonly RouteCarrier[], lane: Lane): boolean {
    const better = claimers.filter((one) => one.priority < priority)
    const ahead = better.find(({ carrier }) =>
      this.#first.mayGo(carrier, lane, this.#hasRoom(carrier, lane), this.#clock.now()),
    )
    if (ahead !== undefined) this.#wake(ahead.carrier)
    return ahead !== undefined
  }
}

interface ClaimRequest {
  readonly carrier: CarrierId
  readonly lane: Lane
  readonly messagesMax: number
  /** Queue of the last claim. */
  readonly after: QueueNumber
  /** True if the carrier wants a message for a probe. A probe claims from queues of refused messages last. */
  readonly isProbe: boolean
}

/** Queue to claim from, with the permission to do so. */
export interface Chosen extends Pick<ClaimableQueue, 'queue' | 'overflowSeconds'> {
  readonly turn: Turn
}

/**
 * Returns the next queue that has waiting messages and in which it is this carrier's turn. If the carrier can claim
 * from only one queue and shares it with no other carrier, the store is not asked whether that queue has messages.
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

const turnKeyOf = (carrier: CarrierId, lane: Lane): string => `${carrier} ${lane}`

/**
 * Passes over a carrier of a better priority that has had room for a while without claiming. The carrier has precedence
 * again once it has claimed or has had no room.
 */
class FirstGo {
  /** Time since which a carrier has had room in a lane without claiming, by carrier and lane. */
  readonly #since = new Map<string, Instant>()

  mayGo(carrier: CarrierId, lane: Lane, hasRoom: boolean, now: Instant): boolean {
    const key = turnKeyOf(carrier, lane)
    if (!hasRoom) this.#since.delete(key)
    else if (!this.#since.has(key)) this.#since.set(key, now)
    return hasRoom && now - (this.#since.get(key) ?? now) < patienceMilliseconds
  }

  claimed(carrier: CarrierId, lane: Lane): void {
    this.#since.delete(turnKeyOf(carrier, lane))
  }
}

/**
 * Counts the messages that each carrier of a route has claimed, divided by the weight of the carrier. The carrier with
 * the lowest count has the next turn.
 */
class Shares {
  readonly #claimed = new Map<CarrierId, number>()
  readonly #passedOver = new Set<CarrierId>()
  /** Carrier that has the turn but has not claimed yet, and the time since which it has had the turn. */
  #turn: { readonly carrier: CarrierId; readonly since: Instant } | undefined

  /** Returns the carrier that must claim before `own`; undefined if there is none. */
  aheadOf(own: RouteCarrier, rivals: readonly RouteCarrier[], now: Instant): RouteCarrier | undefined {
    const ahead = rivals.filter((one) => !this.#passedOver.has(one.carrier) && this.#of(one) < this.#of(own))
    const first = ahead.toSorted((a, b) => this.#of(a) - this.#of(b))[0]
    if (first === undefined) return undefined
    if (this.#turn?.carrier !== first.carrier) this.#turn = { carrier: first.carrier, since: now }
    if (now - this.#turn.since < patienceMilliseconds) return first
    this.#passedOver.add(first.carrier)
    this.#turn = undefined
    return undefined
  }

  add(own: RouteCarrier, messages: number): void {
    this.#claimed.set(own.carrier, this.#of(own) + messages / own.weight)
    this.#passedOver.delete(own.carrier)
    if (this.#turn?.carrier === own.carrier) this.#turn = undefined
  }

  /**
   * Limits how far the counts of the other carriers may be behind the count of `own`. Otherwise a carrier that had no
   * room for a while would get all messages afterwards.
   */
  keepUp(equals: readonly RouteCarrier[], own: RouteCarrier, most: number): void {
    for (const one of equals) this.#claimed.set(one.carrier, Math.max(this.#of(one), this.#of(own) - most))
  }

  #of({ carrier }: RouteCarrier): number {
    return this.#claimed.get(carrier) ?? Math.max(0, ...this.#claimed.values())
  }
}
