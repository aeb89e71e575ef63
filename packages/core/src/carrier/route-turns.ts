import type { Clock } from '../time/clock.ts'
import type { Instant } from '../time/instant.ts'
import type { CarrierId } from './carrier-id.ts'
import { claimableQueues, handOver, type Availability, type ClaimableQueue, type HandOver } from './claimable-queues.ts'
import type { Lane } from './claimed-batches.ts'
import type { PublishedRoute, QueueNumber, RouteNumber, Routes } from './published-routes.ts'
import type { RouteCarrier } from './routes.ts'

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
  /** Calls `wake` where it is the turn of a carrier that may not be looking; undefined: whenever any may claim other queues than before. */
  onWake(carrier: CarrierId | undefined, wake: () => void): void
  claimable(carrier: CarrierId): Promise<readonly ClaimableQueue[]>
  /** Undefined: it is the turn of another carrier, which is woken. */
  take(queue: ClaimableQueue, carrier: CarrierId, lane: Lane, messagesMax: number): Turn | undefined
  /** By the routes that were read last. */
  afterRefusal(queue: QueueNumber, by: CarrierId): HandOver
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

  return {
    join(peer) {
      peers.set(peer.carrier, peer)
      return () => {
        if (peers.get(peer.carrier) === peer) peers.delete(peer.carrier)
      }
    },
    onWake: (carrier, told) => void wakes.set(carrier, told),
    async claimable(carrier) {
      known = await list()
      return claimableQueues(known, carrier, availabilityOf)
    },
    take({ route, equals }, carrier, lane, messagesMax) {
      const own = equals.find((one) => one.carrier === carrier)
      if (own === undefined) return { messagesMax, done: () => undefined }
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
          for (const one of equals) if (one !== own) peers.get(one.carrier)?.changed()
        },
      }
    },
    afterRefusal: (queue, by) => handOver(known, queue, by, availabilityOf),
    changed() {
      for (const peer of peers.values()) peer.changed()
      wakes.get(undefined)?.()
    },
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
