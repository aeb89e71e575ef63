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

/** Permission for one claim. */
export interface Turn {
  /** Maximum number of messages to claim. */
  readonly messagesMax: number
  /** Reports how many messages were claimed. */
  readonly done: (messages: number) => void
}

/** Messages claimed in one round of all carriers that share a queue. */
const roundMessages = 200
/** Milliseconds after which a carrier that has its turn and does not claim is passed over until it claims. */
const patienceMilliseconds = 200

/**
 * Decides, for the dispatchers of one process, which carrier claims from which queue now. By the routes that were read
 * last: carriers of a better priority come first as long as they have room and claim, and carriers of equal priority
 * share by weight. A carrier that has its turn and does not claim is passed over until it claims.
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
   * Registers `wake`, called when it is the turn of a carrier that may be idle; with `carrier` undefined, called
   * whenever any carrier may claim from other queues than before.
   */
  onWake(carrier: CarrierId | undefined, wake: () => void): void {
    this.#wakes.set(carrier, wake)
  }

  /** Notifies all carriers that the availability of one has changed. */
  changed(): void {
    for (const peer of this.#peers.values()) peer.changed()
    this.#wakes.get(undefined)?.()
  }

  // Claims

  async claimable(carrier: CarrierId, lane: Lane): Promise<readonly ClaimableQueue[]> {
    const routes = (this.#read = await this.#list())
    const hasRoom = (one: CarrierId): boolean => this.#hasRoom(one, lane)
    return claimableQueues(routes, carrier, this.#availabilityOf, { lane, hasRoom })
  }

  /** Returns the permission to claim; undefined if it is the turn of another carrier, which is woken. */
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

  /** Returns the turn of a carrier that shares the queue with carriers of equal priority. */
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

  // Messages that go to another carrier, by the routes that were read last

  /** Returns where a refused message goes. */
  afterRefusal(queue: QueueNumber, by: CarrierId): HandOver {
    return handOver(this.#read ?? [], queue, by, this.#availabilityOf)
  }

  /** Returns where a message for registered carriers goes; undefined if none of them is in the route of the queue. */
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
   * Lists the routes. If the store fails, the routes read last are good enough, because messages of other queues are
   * moved later.
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
   * Returns true if a better carrier has room for messages of the queue now. Messages beyond its room are for the next
   * carrier.
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
  /** True if the claim is for a probe, for which queues of refused messages come last. */
  readonly isProbe: boolean
}

/** Queue to claim from, with the permission to do so. */
export interface Chosen extends Pick<ClaimableQueue, 'queue' | 'overflowSeconds'> {
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

const turnKeyOf = (carrier: CarrierId, lane: Lane): string => `${carrier} ${lane}`

/**
 * Passes over a carrier of a better priority that has room but does not claim for a while, until it claims or has no
 * room.
 */
class FirstGo {
  /** Since when a carrier has had room in a lane without claiming. */
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
 * Counts the messages that each carrier of a route has claimed, divided by its weight: the carrier with the least has
 * the next turn.
 */
class Shares {
  readonly #claimed = new Map<CarrierId, number>()
  readonly #passedOver = new Set<CarrierId>()
  /** Carrier whose turn it is although it does not claim. */
  #turn: { readonly carrier: CarrierId; readonly since: Instant } | undefined

  /** Returns the carrier that has its turn before `own`; undefined if there is none. */
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
   * Limits how far the counts of other carriers lag behind, so that a carrier that had no room for a while does not get
   * all messages afterwards.
   */
  keepUp(equals: readonly RouteCarrier[], own: RouteCarrier, most: number): void {
    for (const one of equals) this.#claimed.set(one.carrier, Math.max(this.#of(one), this.#of(own) - most))
  }

  #of({ carrier }: RouteCarrier): number {
    return this.#claimed.get(carrier) ?? Math.max(0, ...this.#claimed.values())
  }
}
