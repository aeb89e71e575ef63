import type { Clock } from '../time/instant.ts'
import type { Availability, Carrier } from './carrier.ts'
import type { Lane } from './claimed-batches.ts'
import type { DispatcherSettings } from './dispatcher-settings.ts'
import type { InFlight, OpenBatch } from './in-flight.ts'

/** What decides how much a dispatcher claims, marks and submits. */
export interface Load extends Pick<DispatcherSettings, 'inDoubtMax' | 'sliceMax'> {
  /** The carrier's window as it is now: so many submissions may be unanswered. */
  readonly window: number
  /** The carrier is tried with a few, of any lane: the window is what they and those without an answer take. */
  readonly isProbing: boolean
  /** So many submissions the carrier answers a second, as measured last. */
  readonly answersPerSecond: number
  readonly unanswered: number
  /** Of these, those whose answers are long overdue: they may never come, and hold up no other. */
  readonly overdue: number
  /** Marked, or to be marked by a claim under way, and not submitted. */
  readonly leaving: number
  /** Marked, or to be marked by a claim under way, and not recorded. */
  readonly inDoubt: number
  /** Claimed and not submitted. */
  readonly ahead: Readonly<Record<Lane, number>>
}

/**
 * With a carrier that is slower than we are, bulk that waits for its answers is at most what it answers in so many
 * seconds.
 */
const bulkSeconds = 0.6

/** A part of the window and of what may be in doubt is kept for the single lane, so that bulk never holds it up. */
const bulkShare = 0.75

/**
 * Where it answers so many a second, a single message that finds the window full of bulk waits for 50 ms: no room is
 * kept for it, and less of what may be in doubt.
 */
const briskPerSecond = 20
const briskBulkShare = 0.875

/**
 * Marked beyond what the window has room for: what the carrier answers while a mark commits, a window at most; one that
 * answers 5 a second has one more. A slower one has none: the message would wait for an answer, up to seconds, although
 * another carrier has room for it (P-17).
 */
const commitSeconds = 0.05
const aheadPerSecond = 5

/** Marked and not submitted are never more than so many windows: a crash leaves them unknown (P-6). */
const leavingWindows = 1.1

/** A carrier that answers others has most likely lost what it has not answered for so long. */
export const overdueSeconds = 4

/** Claimed ahead is at most what the carrier takes in so many seconds: the rest is for others of its route (P-17). */
const claimSeconds = 2

/** Small marks and small claims cost a commit each: at least this part of the bound at a time, unless less is left. */
const leastShare = 0.125

export function loadOf(
  inFlight: InFlight,
  { inDoubtMax, sliceMax }: Pick<DispatcherSettings, 'inDoubtMax' | 'sliceMax'>,
  { window, answersPerSecond, isProbing, overdue }: Pick<Load, 'window' | 'answersPerSecond' | 'isProbing' | 'overdue'>,
): Load {
  const claiming = inFlight.claiming()
  return {
    inDoubtMax,
    sliceMax,
    window,
    isProbing,
    answersPerSecond,
    unanswered: inFlight.unanswered.size,
    overdue: Math.min(overdue, inFlight.unanswered.size),
    leaving: inFlight.leaving() + claiming,
    inDoubt: inFlight.inDoubt() + claiming,
    ahead: { single: inFlight.ahead('single'), bulk: inFlight.ahead('bulk') },
  }
}

const isKnown = (answersPerSecond: number): boolean => Number.isFinite(answersPerSecond)
const isBrisk = (answersPerSecond: number): boolean => isKnown(answersPerSecond) && answersPerSecond >= briskPerSecond
const part = (of: number, share: number): number => Math.max(1, Math.floor(of * share))
const least = (of: number): number => part(of, leastShare)

/** Of bulk never so much that a single message behind it would wait long; at least as much as a mark is worth. */
function laneWindow(lane: Lane, load: Load): number {
  const { window, inDoubtMax, answersPerSecond, isProbing } = load
  if (lane === 'single' || isProbing) return window
  const most = isBrisk(answersPerSecond) ? window : part(window, bulkShare)
  return Math.min(most, Math.max(least(inDoubtMax), Math.ceil(answersPerSecond * bulkSeconds)))
}

const laneDoubt = (lane: Lane, { inDoubtMax, answersPerSecond }: Load): number =>
  lane === 'single' ? inDoubtMax : part(inDoubtMax, isBrisk(answersPerSecond) ? briskBulkShare : bulkShare)

/**
 * Where it answers so many a second, bulk is marked by a quarter of its room: the next answers make it within
 * milliseconds. Over a window of 50 that is a fifth of the separate marks, and 62 µs of PostgreSQL a message, not 74.
 */
const quickPerSecond = 1000

/** A quarter of the room of a lane at most: a few messages that never get an answer hold up no other, and no probe. */
function leastOf(lane: Lane, load: Load): number {
  if (load.isProbing) return 1
  const { inDoubtMax, window, answersPerSecond } = load
  const isQuick = lane === 'bulk' && isKnown(answersPerSecond) && answersPerSecond >= quickPerSecond
  const worth = isQuick ? least(inDoubtMax) : Math.min(least(inDoubtMax), least(window))
  const most = Math.min(laneWindow(lane, load), window - load.overdue)
  return Math.max(1, Math.min(worth, Math.floor(most / 4)))
}

/** How many more messages of the lane may be submitted. */
export const submitRoom = (lane: Lane, load: Load): number => roomIn(laneWindow(lane, load), load)

const roomIn = (most: number, { window, unanswered, overdue }: Load): number =>
  Math.min(most + overdue, window) - unanswered

const commitWorth = ({ window, answersPerSecond, isProbing }: Load): number =>
  isKnown(answersPerSecond) && answersPerSecond >= aheadPerSecond && !isProbing
    ? Math.ceil(Math.min(window, answersPerSecond * commitSeconds))
    : 0

/**
 * How many more of the lane may be marked, if `freed` leave doubt with it: within the bound, as many as the window has
 * room for with one commit's worth, and never more than a window at once.
 */
export function markRoom(lane: Lane, load: Load, freed = 0): number {
  const { inDoubt, leaving, window } = load
  const undoubted = laneDoubt(lane, load) - inDoubt + freed
  const leaves = Math.min(submitRoom(lane, load) + commitWorth(load), Math.floor(window * leavingWindows)) - leaving
  return Math.max(0, Math.min(undoubted, leaves, window))
}

/** How many of the `left` unmarked messages of a batch to mark now; 0: it is not worth a commit yet. */
export function markSize(lane: Lane, left: number, load: Load, freed = 0): number {
  const room = markRoom(lane, load, freed)
  return room < Math.min(left, leastOf(lane, load)) ? 0 : Math.min(left, room)
}

/** How many messages to claim now; 0: none yet. Bulk is claimed at most a slice ahead of what may be marked. */
export function claimSize(lane: Lane, load: Load): number {
  if (lane === 'bulk') {
    const { answersPerSecond, sliceMax, window } = load
    const wanted = isKnown(answersPerSecond) ? Math.ceil(answersPerSecond * claimSeconds) : window
    const slice = Math.max(1, Math.min(sliceMax, wanted))
    return load.ahead.bulk < slice / 2 ? slice : 0
  }
  const room = markRoom(lane, load)
  return load.ahead.single === 0 && room >= leastOf(lane, load) ? Math.min(room, load.sliceMax) : 0
}

/**
 * Whether the lane would have room if only what the carrier has not answered counted: then what waits could move
 * (P-17).
 */
export const couldMove = (lane: Lane, load: Load): boolean =>
  Math.min(laneDoubt(lane, load) - load.unanswered, submitRoom(lane, load)) >= leastOf(lane, load)

/** How fast a carrier answers while it has something to answer. */
export interface Throughput {
  /** Something leaves, and nothing was unanswered. */
  began(): void
  /** So many answers came, and so many submissions are still unanswered. */
  answered(count: number, unanswered: number): void
  /** Answers a second, as measured last; infinite until then. */
  perSecond(): number
}

const leastMilliseconds = 100

/**
 * Measures over at least 100 ms, or until nothing is unanswered: so a pause in which there was nothing to answer does
 * not count, and a carrier that has become faster is noticed with the next answers. One that has answered all could
 * have answered more: that never lowers the measure, as with application-limited samples of BBR.
 */
export function measureThroughput(clock: Clock): Throughput {
  let perSecond = Infinity
  let since = clock.now()
  let count = 0
  return {
    began() {
      since = clock.now()
      count = 0
    },
    answered(answers, unanswered) {
      const now = clock.now()
      count += answers
      const passed = now - since
      if (passed < leastMilliseconds && unanswered > 0) return
      const measured = (count * 1000) / Math.max(1, passed)
      perSecond = unanswered === 0 && isKnown(perSecond) ? Math.max(perSecond, measured) : measured
      since = now
      count = 0
    },
    perSecond: () => perSecond,
  }
}

/** How much one dispatcher may claim, mark and submit at this moment. */
export type FlowControl = ReturnType<typeof createFlowControl>

export function createFlowControl(
  clock: Clock,
  carrier: Pick<Carrier, 'window' | 'room' | 'availability'>,
  inFlight: InFlight,
  settings: DispatcherSettings,
) {
  const throughput = measureThroughput(clock)
  let overdue = 0

  const availability = (): Availability => carrier.availability?.() ?? 'available'

  function load(): Load {
    const { window: whole, room } = carrier
    // Answers that are read and not told yet make room already: it is no wider for that.
    const window = room === undefined ? whole : Math.min(whole, inFlight.unanswered.size + room())
    const isProbing = availability() === 'probing'
    return loadOf(inFlight, settings, { window, isProbing, overdue, answersPerSecond: throughput.perSecond() })
  }

  return {
    availability,
    /** Counts what is overdue. To be called several times a second. */
    look: (): void => void (overdue = inFlight.unansweredSince(clock.now() - overdueSeconds * 1000)),
    began: (): void => throughput.began(),
    answered: (count: number): void => throughput.answered(count, inFlight.unanswered.size),
    /** Of a carrier that takes only some nothing is claimed that cannot leave at once: others may have it. */
    claimSize(lane: Lane): number {
      if (inFlight.hasLostClaims()) return 0
      const now = load()
      const size = claimSize(lane, now)
      return availability() === 'available' ? size : Math.min(size, markRoom(lane, now))
    },
    markRoom: (lane: Lane): number => markRoom(lane, load()),
    markSize: ({ lane, end, marked }: OpenBatch, freed = 0): number =>
      end === marked || availability() === 'down' ? 0 : markSize(lane, end - marked, load(), freed),
    submitRoom: (lane: Lane): number => submitRoom(lane, load()),
    couldMove: (lane: Lane): boolean => availability() !== 'down' && couldMove(lane, load()),
  }
}
