import type { Clock } from '../time/instant.ts'
import type { Availability, Carrier } from './carrier.ts'
import type { Lane } from './claimed-batches.ts'
import type { DispatcherSettings } from './dispatcher-settings.ts'
import type { InFlight } from './in-flight.ts'
import type { OpenBatch } from './open-batch.ts'

/** Figures that decide how much a dispatcher claims, marks and submits. */
export interface Load extends Pick<DispatcherSettings, 'inDoubtMax' | 'sliceMax'> {
  /** Current maximum number of outstanding submissions. */
  readonly window: number
  /**
   * True while the carrier is tried with a few messages of any lane. `window` is then the number of these messages plus
   * the outstanding submissions.
   */
  readonly isProbing: boolean
  /** Measured answers of the carrier per second; infinite before the first measurement. */
  readonly answersPerSecond: number
  readonly unanswered: number
  /** Outstanding submissions whose answers are long overdue. They may never be answered and must not block others. */
  readonly overdue: number
  /** Number of messages that are marked, or may be marked by a claim in progress, and are not submitted yet. */
  readonly leaving: number
  /**
   * Number of messages that are marked, or may be marked by a claim in progress, and whose outcome is not recorded yet.
   */
  readonly inDoubt: number
  /** Messages claimed and not submitted, by lane. */
  readonly ahead: Readonly<Record<Lane, number>>
}

/** Limit of outstanding bulk messages for a slow carrier: as many as it answers in this many seconds. */
const bulkSeconds = 0.6

/**
 * Share of the window and of the in-doubt limit that bulk may use. The rest is reserved for the single lane, so that
 * bulk never blocks it.
 */
const bulkShare = 0.75

/**
 * Answer rate, per second, from which a single message behind a window full of bulk waits at most 50 ms. From this rate
 * on, bulk may use the whole window and a larger share of the in-doubt limit.
 */
const briskPerSecond = 20
const briskBulkShare = 0.875

/**
 * Messages that the carrier answers within this many seconds are marked beyond the window, because their room becomes
 * free while the mark commits. Their number is at most one window, and 1 for a carrier that answers 5 a second. Nothing
 * is marked beyond the window of a slower carrier, because the message would wait seconds for an answer although
 * another carrier has room (P-17).
 */
const commitSeconds = 0.05
const aheadPerSecond = 5

/**
 * Maximum number of marked messages that are not submitted yet, as a multiple of the window. A crash leaves them
 * unknown (P-6).
 */
const leavingWindows = 1.1

/**
 * Seconds after which an outstanding submission counts as overdue: a carrier that answers other submissions has most
 * likely lost it.
 */
export const overdueSeconds = 4

/**
 * Bulk messages are claimed ahead only as far as the carrier answers them within this many seconds. The rest is left
 * for other carriers of the route (P-17).
 */
const claimSeconds = 2

/**
 * Smallest share of the window or the in-doubt limit for which a separate mark or claim is worth its commit. Fewer
 * messages wait unless they are all that remains.
 */
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

/**
 * Returns the part of the window that the lane may use. The part for bulk is small enough that a single message behind
 * it waits only briefly, and large enough that marking it is worth a commit.
 */
function laneWindow(lane: Lane, load: Load): number {
  const { window, inDoubtMax, answersPerSecond, isProbing } = load
  if (lane === 'single' || isProbing) return window
  const most = isBrisk(answersPerSecond) ? window : part(window, bulkShare)
  return Math.min(most, Math.max(least(inDoubtMax), Math.ceil(answersPerSecond * bulkSeconds)))
}

const laneDoubt = (lane: Lane, { inDoubtMax, answersPerSecond }: Load): number =>
  lane === 'single' ? inDoubtMax : part(inDoubtMax, isBrisk(answersPerSecond) ? briskBulkShare : bulkShare)

/**
 * Answer rate, per second, from which bulk is marked only when a quarter of its room is free, because further answers
 * free that much within milliseconds. With a window of 50 this saves four fifths of the separate marks: 62 µs of
 * PostgreSQL per message instead of 74.
 */
const quickPerSecond = 1000

/**
 * Returns the minimum number of messages for which a mark or claim is worth its commit. It is at most a quarter of the
 * lane's room, so that a few messages that never get an answer block neither other messages nor probes.
 */
function leastOf(lane: Lane, load: Load): number {
  if (load.isProbing) return 1
  const { inDoubtMax, window, answersPerSecond } = load
  const isQuick = lane === 'bulk' && isKnown(answersPerSecond) && answersPerSecond >= quickPerSecond
  const worth = isQuick ? least(inDoubtMax) : Math.min(least(inDoubtMax), least(window))
  const most = Math.min(laneWindow(lane, load), window - load.overdue)
  return Math.max(1, Math.min(worth, Math.floor(most / 4)))
}

/** Returns how many more messages of the lane may be submitted. */
export const submitRoom = (lane: Lane, load: Load): number => roomIn(laneWindow(lane, load), load)

const roomIn = (most: number, { window, unanswered, overdue }: Load): number =>
  Math.min(most + overdue, window) - unanswered

const commitWorth = ({ window, answersPerSecond, isProbing }: Load): number =>
  isKnown(answersPerSecond) && answersPerSecond >= aheadPerSecond && !isProbing
    ? Math.ceil(Math.min(window, answersPerSecond * commitSeconds))
    : 0

/**
 * Returns how many more messages of the lane may be marked, if the same commit takes `freed` messages out of doubt. The
 * limits are the in-doubt limit, the room in the window plus the answers expected during one commit, and one window.
 */
export function markRoom(lane: Lane, load: Load, freed = 0): number {
  const { inDoubt, leaving, window } = load
  const undoubted = laneDoubt(lane, load) - inDoubt + freed
  const leaves = Math.min(submitRoom(lane, load) + commitWorth(load), Math.floor(window * leavingWindows)) - leaving
  return Math.max(0, Math.min(undoubted, leaves, window))
}

/** Returns how many of the `unmarked` remaining messages of a batch to mark now; 0 if it is not worth a commit yet. */
export function markSize(lane: Lane, unmarked: number, load: Load, freed = 0): number {
  const room = markRoom(lane, load, freed)
  return room < Math.min(unmarked, leastOf(lane, load)) ? 0 : Math.min(unmarked, room)
}

/**
 * Returns how many messages to claim now; 0 for none yet. Bulk is claimed at most one slice ahead of the messages that
 * may be marked.
 */
export function claimSize(lane: Lane, load: Load): number {
  if (lane === 'bulk') {
    const { answersPerSecond, sliceMax, window } = load
    const claimable = isKnown(answersPerSecond) ? Math.ceil(answersPerSecond * claimSeconds) : window
    const slice = Math.max(1, Math.min(sliceMax, claimable))
    return load.ahead.bulk < slice / 2 ? slice : 0
  }
  const room = markRoom(lane, load)
  return load.ahead.single === 0 && room >= leastOf(lane, load) ? Math.min(room, load.sliceMax) : 0
}

/**
 * Returns true if waiting messages of the lane could be submitted: there would be room if only outstanding submissions
 * counted, not marked messages (P-17).
 */
export const couldMove = (lane: Lane, load: Load): boolean =>
  Math.min(laneDoubt(lane, load) - load.unanswered, submitRoom(lane, load)) >= leastOf(lane, load)

const leastMilliseconds = 100

/**
 * Measures how many submissions a carrier answers per second. A measurement lasts at least 100 ms and at least as long
 * as one answer takes, or from the first submission until none is outstanding. Time without outstanding submissions
 * therefore does not count, and a carrier that became faster is noticed with its next answers. Even a slow carrier may
 * answer a whole window within milliseconds, so a shorter measurement that begins amid these answers would yield
 * thousands a second. A carrier that has answered everything could have answered more, so such a measurement never
 * lowers the rate, as with application-limited samples of BBR.
 */
export class Throughput {
  readonly #clock: Clock
  #perSecond = Infinity
  #since: number
  #count = 0
  /** True if the measurement began with a submission, not amid answers. */
  #isFromSubmission = true

  constructor(clock: Clock) {
    this.#clock = clock
    this.#since = clock.now()
  }

  /** Answers per second in the last measurement; infinite before the first measurement. */
  get perSecond(): number {
    return this.#perSecond
  }

  /** Starts a new measurement. Called after a submission if no other submission was outstanding. */
  began(): void {
    this.#since = this.#clock.now()
    this.#count = 0
    this.#isFromSubmission = true
  }

  /** Reports new answers, the number of submissions still outstanding, and how long the quickest answer took. */
  answered(answers: number, unanswered: number, milliseconds = 0): void {
    const now = this.#clock.now()
    this.#count += answers
    const passed = now - this.#since
    const isDone = unanswered === 0 && this.#isFromSubmission
    if (passed < Math.max(leastMilliseconds, milliseconds) && !isDone) return
    const measured = (this.#count * 1000) / Math.max(1, passed)
    this.#perSecond = unanswered === 0 && isKnown(this.#perSecond) ? Math.max(this.#perSecond, measured) : measured
    this.#since = now
    this.#count = 0
    this.#isFromSubmission = false
  }
}

/**
 * Limits on how much one dispatcher may claim, mark and submit at this moment: computed from the carrier's room, its
 * measured throughput and the messages in flight.
 */
export class FlowControl {
  readonly #clock: Clock
  readonly #carrier: Pick<Carrier, 'window' | 'room' | 'availability'>
  readonly #inFlight: InFlight
  readonly #settings: DispatcherSettings
  readonly #throughput: Throughput
  /** Overdue submissions as of the last `look`. */
  #overdue = 0

  constructor(
    clock: Clock,
    carrier: Pick<Carrier, 'window' | 'room' | 'availability'>,
    inFlight: InFlight,
    settings: DispatcherSettings,
  ) {
    this.#clock = clock
    this.#carrier = carrier
    this.#inFlight = inFlight
    this.#settings = settings
    this.#throughput = new Throughput(clock)
  }

  availability(): Availability {
    return this.#carrier.availability()
  }

  /** Counts the overdue submissions. To be called several times a second. */
  look(): void {
    this.#overdue = this.#inFlight.unansweredSince(this.#clock.now() - overdueSeconds * 1000)
  }

  /** Starts a new measurement of the throughput. Called after a submission if no other submission was outstanding. */
  began(): void {
    this.#throughput.began()
  }

  /** Reports new answers, the quickest of which took this time. */
  answered(count: number, milliseconds: number): void {
    this.#throughput.answered(count, this.#inFlight.unanswered.size, milliseconds)
  }

  /**
   * Returns how many messages to claim. A throttled or probing carrier claims only messages that can be submitted at
   * once; the others are left for other carriers.
   */
  claimSize(lane: Lane): number {
    if (this.#inFlight.hasLostClaims()) return 0
    const load = this.#load()
    const size = claimSize(lane, load)
    return this.availability() === 'available' ? size : Math.min(size, markRoom(lane, load))
  }

  markRoom(lane: Lane): number {
    return markRoom(lane, this.#load())
  }

  /** Returns how many messages of a batch to mark with a commit that takes `freed` messages out of doubt. */
  markSize({ lane, end, marked }: OpenBatch, freed = 0): number {
    if (end === marked || this.availability() === 'down') return 0
    return markSize(lane, end - marked, this.#load(), freed)
  }

  submitRoom(lane: Lane): number {
    return submitRoom(lane, this.#load())
  }

  couldMove(lane: Lane): boolean {
    return this.availability() !== 'down' && couldMove(lane, this.#load())
  }

  #load(): Load {
    const inFlight = this.#inFlight
    // An answer that was read but not reported yet already frees room at the carrier. Limit the sum, so that such
    // answers do not widen the window.
    const window = Math.min(this.#carrier.window, inFlight.unanswered.size + this.#carrier.room())
    const isProbing = this.availability() === 'probing'
    const { perSecond: answersPerSecond } = this.#throughput
    return loadOf(inFlight, this.#settings, { window, isProbing, overdue: this.#overdue, answersPerSecond })
  }
}
