/**
 * The circuit breaker of a carrier: whether it takes messages is known by its answers to submissions, not by its
 * connections. Pure functions; times are milliseconds of one clock that does not go back. The states are drawn in
 * docs/carriers.md.
 */
export interface Circuit {
  readonly state: CircuitState
  readonly since: number
  /** Why it was opened last; undefined: it never was. */
  readonly reason: CircuitProblem | undefined
  /** Submissions of an earlier epoch, before it was opened, prove nothing but that the carrier answers. */
  readonly epoch: number
  /** How long it waits, or waited last, before a probe; 0: it was never opened. */
  readonly pause: number
  /** So many submissions of this epoch were taken, `provenEnough` at most. */
  readonly proven: number
  /** Submissions of this epoch without an answer. */
  readonly unanswered: number
  /** So many submissions were answered, of any epoch. */
  readonly answers: number
  /** When the first submission left of which nothing, nor of any later one, was answered. */
  readonly silentSince: number | undefined
  /** The latest outcomes, the last one in the lowest bit: 1 is a failure. */
  readonly recent: number
  readonly recentCount: number
  /** How long answers take, in milliseconds; undefined: there was none. */
  readonly answerTime: number | undefined
}

export type CircuitState = 'closed' | 'open' | 'half-open'

/** Silent: nothing was answered for too long. Failing: too many of the latest got no answer or were refused for now. */
export type CircuitProblem = 'silent' | 'failing'

/** What opens the circuit, and how the carrier is tried again. */
export interface CircuitBounds {
  /**
   * For so long nothing was answered of what was submitted since the last answer; at least four times as long as
   * answers take.
   */
  readonly silentSeconds: number
  /**
   * So many percent of the last twenty, and three at least, were refused for now, or got no answer and so many of those
   * that left since have none either.
   */
  readonly failuresPercent: number
  /** The first pause before a probe; it doubles with each one that fails. */
  readonly probeSeconds: number
  readonly probeSecondsMax: number
}

export const circuitDefaults: CircuitBounds = {
  silentSeconds: 5,
  failuresPercent: 50,
  probeSeconds: 3,
  probeSecondsMax: 50,
}

/**
 * What became of a submission. Taken: the carrier took it, or refused it for good. Throttled: it gets too much, which
 * slows it down and opens nothing. Unsent: it has not left, or its connection ended before an answer was due.
 */
export type CircuitOutcome = 'taken' | 'throttled' | 'refused-for-now' | 'unanswered' | 'unsent'

/** After so many the carrier gets as many at a time as its window has room for. */
const provenEnough = 10
const recentMax = 20
const failuresLeast = 3
/** Who stays well for so long begins again with the first pause. */
const calmMilliseconds = 60_000
/** Silence of this part of what opens it: nothing more is added to what may be lost, others have it. */
const doubtfulShare = 0.2
const silentTimes = 4

export const newCircuit = (now: number): Circuit => ({
  ...{ state: 'closed', since: now, reason: undefined, epoch: 0, pause: 0, answerTime: undefined, answers: 0 },
  ...fresh,
})

const fresh = { proven: 0, unanswered: 0, silentSince: undefined, recent: 0, recentCount: 0 } as const

/**
 * How many more may be submitted now: none while it is open, one to begin with, and one more at a time with each that
 * is taken.
 */
export function circuitRoom({ state, proven, unanswered }: Circuit): number {
  if (state === 'open') return 0
  return proven >= provenEnough ? Infinity : Math.max(0, 1 + proven - unanswered)
}

/**
 * Nothing was answered for longer than usual: others should have what is new until the carrier answers or the circuit
 * opens.
 */
export const isDoubtful = (circuit: Circuit, bounds: CircuitBounds, now: number): boolean =>
  circuit.state !== 'open' && silence(circuit, now) >= silenceMax(circuit, bounds.silentSeconds * doubtfulShare)

const silence = ({ silentSince }: Circuit, now: number): number => (silentSince === undefined ? 0 : now - silentSince)

const silenceMax = ({ answerTime = 0 }: Circuit, seconds: number): number =>
  Math.max(seconds * 1000, answerTime * silentTimes)

type Draft = { -readonly [Field in keyof Circuit]: Circuit[Field] }

/**
 * A copy that its maker changes before anybody has it. To spread a circuit and name what is other costs more: 1.9 µs a
 * message, not 0.4.
 */
const copyOf = (circuit: Circuit): Draft => ({ ...circuit })

/** So many submissions leave; they belong to the epoch that there is. */
export function submittedTo(circuit: Circuit, now: number, count = 1): Circuit {
  const next = copyOf(circuit)
  next.unanswered += count
  next.silentSince ??= now
  return next
}

/** A submission as it left: the epoch and the count of answers that the circuit had then. */
export interface Departure extends Pick<Circuit, 'epoch' | 'answers'> {
  readonly leftAt: number
}

/** A submission came to its end, or so many that left together, one behind the other. */
export function settledBy(
  circuit: Circuit,
  submission: Departure,
  outcome: CircuitOutcome,
  bounds: CircuitBounds,
  now: number,
  count = 1,
): Circuit {
  let next = copyOf(circuit)
  for (let one = 0; one < count; one++) next = settle(next, submission, outcome, bounds, now)
  return next
}

/** Changes the draft, and returns it or another one. */
function settle(
  circuit: Draft,
  { epoch, answers: answersBefore, leftAt }: Departure,
  outcome: CircuitOutcome,
  bounds: CircuitBounds,
  now: number,
): Draft {
  const isAnswer = outcome !== 'unanswered' && outcome !== 'unsent'
  const isOfNumber = outcome === 'unanswered' && isAnsweredMeanwhile(circuit, answersBefore, bounds)
  if (isAnswer) {
    circuit.answerTime = averaged(circuit.answerTime, now - leftAt)
    circuit.answers++
  }
  // What it answers late proves that it is there, not that it is quick: a probe does.
  if (epoch !== circuit.epoch) return isAnswer && circuit.state === 'open' ? halfOpen(circuit, now) : circuit
  circuit.unanswered = Math.max(0, circuit.unanswered - 1)
  if (isAnswer || circuit.unanswered === 0) circuit.silentSince = undefined
  if (outcome === 'throttled' || outcome === 'unsent' || isOfNumber) return circuit
  note(circuit, outcome === 'taken' ? 0 : 1)
  return outcome === 'taken' ? succeeded(circuit, now) : failed(circuit, bounds, now)
}

/** Some numbers never get an answer: that says nothing of a carrier that has answered most others meanwhile. */
const isAnsweredMeanwhile = ({ answers, unanswered }: Circuit, before: number, bounds: CircuitBounds): boolean =>
  unanswered * 100 < (unanswered + answers - before) * bounds.failuresPercent

const averaged = (before: number | undefined, elapsed: number): number =>
  before === undefined ? elapsed : before + (elapsed - before) / 10

function note(circuit: Draft, isFailure: 0 | 1): void {
  circuit.recent = ((circuit.recent << 1) | isFailure) & (2 ** recentMax - 1)
  circuit.recentCount = Math.min(recentMax, circuit.recentCount + 1)
}

function succeeded(circuit: Draft, now: number): Draft {
  circuit.proven = Math.min(provenEnough, circuit.proven + 1)
  const isWell = circuit.state === 'half-open' && circuit.proven === provenEnough
  return isWell ? { ...circuit, state: 'closed', since: now } : circuit
}

function failed(circuit: Draft, bounds: CircuitBounds, now: number): Draft {
  if (circuit.state === 'half-open') return open(circuit, 'failing', bounds, now)
  const failures = circuit.recent.toString(2).replaceAll('0', '').length
  const isFailing = failures >= failuresLeast && failures * 100 >= circuit.recentCount * bounds.failuresPercent
  return isFailing ? open(circuit, 'failing', bounds, now) : circuit
}

function open(circuit: Circuit, reason: CircuitProblem, bounds: CircuitBounds, now: number): Circuit {
  const { state, since, epoch, pause } = circuit
  const [first, most] = [bounds.probeSeconds * 1000, bounds.probeSecondsMax * 1000]
  const isCalm = pause === 0 || (state === 'closed' && now - since >= calmMilliseconds)
  const next = Math.min(most, isCalm ? first : 2 * pause)
  return { ...circuit, ...fresh, state: 'open', since: now, reason, epoch: epoch + 1, pause: next }
}

const halfOpen = (circuit: Circuit, now: number): Circuit => ({ ...circuit, state: 'half-open', since: now })

/**
 * Time has passed: one that is silent is opened, and one whose pause is over is tried. The same circuit: nothing has
 * changed.
 */
export function circuitAt(circuit: Circuit, bounds: CircuitBounds, now: number): Circuit {
  const { state, since, pause } = circuit
  if (state === 'open') return now - since >= pause ? halfOpen(circuit, now) : circuit
  const isSilent = silence(circuit, now) > 0 && silence(circuit, now) >= silenceMax(circuit, bounds.silentSeconds)
  return isSilent ? open(circuit, 'silent', bounds, now) : circuit
}

/** Milliseconds until the pause is over; 0: it is not open. */
export const pauseLeft = ({ state, since, pause }: Circuit, now: number): number =>
  state === 'open' ? Math.max(0, since + pause - now) : 0
