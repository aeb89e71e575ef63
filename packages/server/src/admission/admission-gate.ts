import type { Metrics } from '../metrics.ts'
import { markWithoutEffect, withoutEffect } from '../on-error.ts'
import { bodyMemory, type BodyMemory } from './body-memory.ts'
import { fairQueue, refusalPace, type RefusalPace, timeSlices, type TimeSlices } from './turns.ts'

/** Gives a place back; calling it again does nothing. */
export type Leave = () => void

/**
 * Key by which callers share the places: an account once it is known, else a network. A function is called only if the
 * caller must wait.
 */
export type Owner = string | (() => string)

/**
 * Limit on the work of one process. Excess requests are refused before they cost anything (P-13). Owners take turns: a
 * single owner may use all places and all time, but no more than its turn while other owners wait. Time is shared in
 * addition to places, because otherwise each step of a request would wait behind a step of every other connection.
 */
export interface AdmissionGate {
  /**
   * Returns a place, at once or when it is the owner's turn. Returns undefined if the process is full or the turn did
   * not come in time; in that case nothing was done. `work` is the number of recipients or ids of the request, 1 by
   * default, and decides whose turn it is. Requests with a work of 50 or more have separate places. There, a request
   * that only `reads` counts twice, because it never waits for a disk.
   */
  readonly enter: (owner: Owner, work?: number, reads?: boolean) => Leave | undefined | Promise<Leave | undefined>
  /**
   * Does the same as `enter` for slow requests: they have a few places of their own and occupy no other place while
   * they wait.
   */
  readonly enterSlow: (owner: Owner, work?: number) => Leave | undefined | Promise<Leave | undefined>
  /**
   * Returns a place at once, or undefined if there is none. For work that has already had its turn, so it is admitted
   * even if other requests wait.
   */
  readonly tryEnter: () => Leave | undefined
  /** Number of requests that have a place or wait for one. */
  readonly inFlight: number
  readonly waiting: number
  /** Memory for the request bodies of this process. */
  readonly bodies: BodyMemory
  /** Time slices in which long documents are parsed. */
  readonly slices: TimeSlices
  /** All requests in progress, with or without a place. */
  readonly requests: RunningRequests
  /** Rate limit on refusals. Without it a client could repeat refused requests without delay. */
  readonly refusals: RefusalPace
}

export interface AdmissionSettings {
  /**
   * Maximum number of places; default 128. With more places, a request that has just entered would wait behind the work
   * of all other requests.
   */
  readonly placesMax?: number
  /**
   * Maximum total work of concurrent requests with a work of 50 or more. A single such request is always admitted.
   * Default 8000, which is the work of two statements.
   */
  readonly largeWorkMax?: number
  /**
   * Maximum number of places for slow requests; default 2. On two cores, more places do not increase throughput and
   * delay other requests.
   */
  readonly slowPlacesMax?: number
  /** Maximum time to wait for a turn, in seconds; default 2. */
  readonly waitSecondsMax?: number
  /** Milliseconds after which no further work begins in one turn of the event loop; default 8. */
  readonly turnMs?: number
  /** Maximum size of all bodies in memory, in bytes; default 64 MB. */
  readonly bodyBytesMax?: number
}

/**
 * Minimum number of recipients or ids in a large request. A smaller request is an ordinary one, because it costs about
 * as much as separate requests with one recipient each.
 */
const largeMin = 50

interface Waiting {
  readonly admit: (leave: Leave | undefined) => void
  readonly room: number
  timer?: NodeJS.Timeout
}

interface Share {
  readonly roomMax: number
  /** Room that a request of this work occupies. */
  readonly roomOf: (work: number) => number
  readonly queue: ReturnType<typeof fairQueue<Waiting>>
  occupied: number
}

/**
 * Returns a gate for at most `inFlightMax` requests; requests without a place wait in turn. Callers call the returned
 * `Leave` in a `finally`.
 */
export function admissionGate(inFlightMax: number, settings: AdmissionSettings = {}): AdmissionGate {
  const {
    placesMax = 128,
    largeWorkMax = 8000,
    slowPlacesMax = 2,
    waitSecondsMax = 2,
    turnMs = 8,
    bodyBytesMax = 64 * 1024 * 1024,
  } = settings
  let inFlight = 0
  const share = (roomMax: number, roomOf: Share['roomOf']): Share => ({
    roomMax,
    roomOf,
    queue: fairQueue(),
    occupied: 0,
  })
  const ordinary = share(placesMax, () => 1)
  const large = share(largeWorkMax, (work) => Math.min(work, largeWorkMax))
  const slow = share(slowPlacesMax, () => 1)
  const shares = [ordinary, large, slow]
  /** Time at which work began in this turn of the event loop, by performance.now(). */
  let turnBegan: number | undefined

  function place(at: Share, room: number): Leave {
    let inside = true
    at.occupied += room
    return () => {
      if (!inside) return
      inside = false
      inFlight--
      at.occupied -= room
      if (mayAdmit(at) && hasTime()) admitNext(at)
    }
  }

  function mayAdmit(at: Share): boolean {
    const next = at.queue.peek()
    return next !== undefined && at.occupied + next.room <= at.roomMax
  }

  /**
   * Returns true if work may begin in this turn of the event loop. Otherwise waiting requests are admitted in the next
   * turns.
   */
  function hasTime(): boolean {
    if (turnBegan !== undefined) return performance.now() - turnBegan < turnMs
    turnBegan = performance.now()
    setImmediate(endTurn)
    return true
  }

  function endTurn(): void {
    turnBegan = undefined
    admitWhileTime()
  }

  function admitWhileTime(): void {
    const open = shares.filter(mayAdmit)
    if (open.length === 0 || !hasTime()) return
    open.forEach(admitNext)
    // Continue only after the admitted requests have done the work that they do at once.
    queueMicrotask(() => process.nextTick(admitWhileTime))
  }

  function admitNext(at: Share): void {
    const next = at.queue.shift()
    if (next === undefined) return
    clearTimeout(next.timer)
    next.admit(place(at, next.room))
  }

  function refuse(waiting: Waiting): void {
    inFlight--
    clearTimeout(waiting.timer)
    waiting.admit(undefined)
  }

  /** Refuses one waiting request, so that a new request of an owner with fewer waiting requests can wait instead. */
  function makeRoom(owner: string): boolean {
    for (const { queue } of shares) {
      const displaced = queue.displace(owner)
      if (displaced === undefined) continue
      refuse(displaced)
      return true
    }
    return false
  }

  function wait(at: Share, owner: string, work: number): Promise<Leave | undefined> {
    return new Promise((admit) => {
      const waiting: Waiting = { admit, room: at.roomOf(work) }
      at.queue.push(owner, waiting, work)
      waiting.timer = setTimeout(() => {
        if (at.queue.remove(owner, waiting)) refuse(waiting)
      }, waitSecondsMax * 1000).unref()
    })
  }

  function enter(at: Share, owner: Owner, work: number): Leave | undefined | Promise<Leave | undefined> {
    if (inFlight >= inFlightMax && !makeRoom(nameOf(owner))) return undefined
    inFlight++
    const room = at.roomOf(work)
    // While a large request waits for room, smaller requests behind it must not use that room up.
    const mustWait = at.occupied + room > at.roomMax || (at === large && at.queue.length > 0)
    return mustWait || !hasTime() ? wait(at, nameOf(owner), work) : place(at, room)
  }

  return {
    enter: (owner, work = 1, reads = false) =>
      work < largeMin ? enter(ordinary, owner, work) : enter(large, owner, reads ? 2 * work : work),
    enterSlow: (owner, work = 1) => enter(slow, owner, work),
    bodies: bodyMemory(bodyBytesMax),
    slices: timeSlices(),
    requests: runningRequests(),
    refusals: refusalPace(),
    tryEnter() {
      if (inFlight >= inFlightMax) return undefined
      inFlight++
      return place(ordinary, 1)
    },
    get inFlight() {
      return inFlight
    },
    get waiting() {
      return shares.reduce((sum, { queue }) => sum + queue.length, 0)
    },
  }
}

/**
 * Runs `work` once there is a place, and returns its result. Returns undefined if there was no place; in that case
 * nothing was done. Errors of work that only `reads` are marked as safe to repeat, because nothing was done (ruling
 * 1.25).
 */
export async function withPlace<T>(
  entered: ReturnType<AdmissionGate['enter']>,
  reads: boolean,
  work: () => T | Promise<T>,
): Promise<T | undefined> {
  const leave: Leave | undefined = typeof entered === 'object' ? await entered : entered
  if (leave === undefined) return undefined
  try {
    return await work()
  } catch (error) {
    throw reads ? markWithoutEffect(error) : error
  } finally {
    leave()
  }
}

/**
 * Same as `withPlace`, but releases the place before it runs `work`. For reads that wait in a bounded queue of their
 * own and would occupy the place for a long time.
 */
export async function afterPlace<T>(
  entered: ReturnType<AdmissionGate['enter']>,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const leave: Leave | undefined = typeof entered === 'object' ? await entered : entered
  if (leave === undefined) return undefined
  leave()
  return withoutEffect(work)
}

const nameOf = (owner: Owner): string => (typeof owner === 'string' ? owner : owner())

/**
 * Registers gauges for the places in use, the requests that wait for one, and the bytes of bodies; all 0 when idle.
 */
export function measureAdmission(metrics: Metrics, gate: AdmissionGate): void {
  metrics.gauge('gateway_requests_in_flight', 'Requests that hold a place or wait for one', [], () => [
    { labels: {}, value: gate.inFlight },
  ])
  metrics.gauge('gateway_requests_waiting', 'Requests that wait for a place', [], () => [
    { labels: {}, value: gate.waiting },
  ])
  metrics.gauge('gateway_refusals_waiting', 'Refused log-ins whose answers are held back', [], () => [
    { labels: {}, value: gate.refusals.waiting },
  ])
  metrics.gauge('gateway_body_bytes', 'Bytes of request bodies and of unread answers in memory', [], () => [
    { labels: {}, value: gate.bodies.bytes },
  ])
}

/**
 * Count of the requests in progress. It includes requests whose clients have disconnected, because nothing else waits
 * for those.
 */
export interface RunningRequests {
  begin(): void
  /** Called when a request that was begun has ended. */
  end(): void
  /** Resolves once no request is in progress, or after `seconds`. */
  ended(seconds: number): Promise<void>
}

export function runningRequests(): RunningRequests {
  let count = 0
  let last = (): void => undefined
  return {
    begin() {
      count++
    },
    end() {
      if (--count === 0) last()
    },
    async ended(seconds) {
      if (count === 0) return
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        last = resolve
        timer = setTimeout(resolve, seconds * 1000)
      })
      clearTimeout(timer)
    },
  }
}
