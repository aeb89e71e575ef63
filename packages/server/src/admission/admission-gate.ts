import type { Metrics } from '../metrics.ts'
import { markWithoutEffect, withoutEffect } from '../on-error.ts'
import { bodyMemory, type BodyMemory } from './body-memory.ts'
import { fairQueue, refusalPace, type RefusalPace, timeSlices, type TimeSlices } from './turns.ts'

/** Gives a place back; calling it again does nothing. */
export type Leave = () => void

/** Who asks: an account once it is known, else a network. A function is called only where somebody must wait. */
export type Owner = string | (() => string)

/**
 * Bounds what one process works on, and refuses the excess before it costs anything (P-13). Owners take turns: one uses
 * all places and all time that nobody else wants, and no more than its turn when others wait. The time counts too, or
 * else each step of a request would wait behind one of every other connection.
 */
export interface AdmissionGate {
  /**
   * A place, at once or in turn; undefined: the process is full, or the turn did not come in time. Nothing was done
   * then. `work`: the recipients or ids that it is for, 1 if not given. Owners take turns by work, and from 50 on it
   * has places of its own; there, what only `reads` counts twice: it never waits for a disk.
   */
  readonly enter: (owner: Owner, work?: number, reads?: boolean) => Leave | undefined | Promise<Leave | undefined>
  /** The same for what may take long: it has few places of its own, and takes none from other work while it waits. */
  readonly enterSlow: (owner: Owner, work?: number) => Leave | undefined | Promise<Leave | undefined>
  /** A place at once or never, for work that has had its turn; also where others wait. */
  readonly tryEnter: () => Leave | undefined
  /** How many have a place or wait for one. */
  readonly inFlight: number
  readonly waiting: number
  /** The bytes of the bodies that this process holds. */
  readonly bodies: BodyMemory
  /** For reading documents that take long. */
  readonly slices: TimeSlices
  /** All that are worked on, with a place or without. */
  readonly requests: RunningRequests
  /** For refusals that cost whoever asks nothing. */
  readonly refusals: RefusalPace
}

export interface AdmissionSettings {
  /** Places for work; default 128: with more, whoever has just got one waits behind the work of all others. */
  readonly placesMax?: number
  /** Work that requests of 50 or more may be at together; one may always be. Default 8000: that of two statements. */
  readonly largeWorkMax?: number
  /** Places for slow work; default 2: on two cores more give no more answers, and hold up others. */
  readonly slowPlacesMax?: number
  /** So long a turn is waited for; default 2. */
  readonly waitSecondsMax?: number
  /** In one turn of the event loop no further work begins after so many milliseconds; default 8. */
  readonly turnMs?: number
  /** Bytes of all bodies in memory; default 64 MB. */
  readonly bodyBytesMax?: number
}

/** Fewer at a time cost as much as as many requests of one. */
const largeMin = 50

interface Waiting {
  readonly admit: (leave: Leave | undefined) => void
  readonly room: number
  timer?: NodeJS.Timeout
}

interface Share {
  readonly roomMax: number
  /** What a request takes of the room. */
  readonly roomOf: (work: number) => number
  readonly queue: ReturnType<typeof fairQueue<Waiting>>
  taken: number
}

/**
 * A gate for at most `inFlightMax` requests, of which those that have no place wait in turn. Whoever enters leaves in a
 * `finally`.
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
  const share = (roomMax: number, roomOf: Share['roomOf']): Share => ({ roomMax, roomOf, queue: fairQueue(), taken: 0 })
  const ordinary = share(placesMax, () => 1)
  const large = share(largeWorkMax, (work) => Math.min(work, largeWorkMax))
  const slow = share(slowPlacesMax, () => 1)
  const shares = [ordinary, large, slow]
  /** When work began in this turn of the event loop, by performance.now(). */
  let turnBegan: number | undefined

  function place(at: Share, room: number): Leave {
    let inside = true
    at.taken += room
    return () => {
      if (!inside) return
      inside = false
      inFlight--
      at.taken -= room
      if (mayAdmit(at) && hasTime()) admitNext(at)
    }
  }

  function mayAdmit(at: Share): boolean {
    const next = at.queue.peek()
    return next !== undefined && at.taken + next.room <= at.roomMax
  }

  /** Whether work may begin now. Where it may not, what waits is admitted in the next turns. */
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
    // After what these do at once.
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

  /** One that waits is refused for a newcomer whose owner has fewer that wait. */
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
    // Where a large one waits for its room, smaller ones behind it do not take it away.
    const mustWait = at.taken + room > at.roomMax || (at === large && at.queue.length > 0)
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
 * Works with a place, once there is one; undefined: there was none, and nothing was done. What work that only `reads`
 * throws is marked: nothing was done (ruling 1.25).
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
 * Works as soon as there was a place, which it gives back before: for reading that waits for a turn of its own in a
 * bounded queue, where it would hold its place for long. As of `withPlace` else.
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
 * Shows how many places are taken and waited for, and how many bytes of bodies are held: 0 when nothing is asked for.
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

/** Counts the requests that a process works on, also those whose clients have gone: nothing else waits for these. */
export interface RunningRequests {
  begin(): void
  /** Of one that was begun. */
  end(): void
  /** Resolves once none is worked on, or after `seconds`. */
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
