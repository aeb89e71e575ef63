import {
  circuitAt,
  circuitRoom,
  isDoubtful,
  newCircuit,
  pauseLeft,
  settledBy,
  submittedTo,
  type Circuit,
  type CircuitBounds,
  type CircuitOutcome,
  type CircuitState,
  type Departure,
} from '@gateway/core/dispatch'

/**
 * The circuit breaker of one carrier, over all its connections. Times are milliseconds of one clock that does not go
 * back.
 */
export interface CircuitBreaker {
  /** A submission leaves. Those that leave at the same moment have one departure. */
  submitted(now: number): Departure
  settled(submission: Departure, outcome: CircuitOutcome): void
  /** Time has passed. To be called now and then while something is unanswered. */
  look(): void
  state(): CircuitState
  /** What is handed over anyway may leave; of a new carrier too, while it is not known what it is like. */
  mayLeave(): boolean
  /** How many more should be handed over now. */
  room(): number
  /** Nothing is answered for longer than usual, or it is not known yet that it is: others should have what is new. */
  isDoubtful(): boolean
  circuit(): Circuit
  /** Since when it is in its state, by the clock that tells times to operators. */
  since(): number
  stop(): void
}

export interface CircuitEvents {
  /** It takes more or less than before; called once what is under way in this turn is done. */
  changed(): void
  opened(circuit: Circuit): void
  /** It has proved well, so many milliseconds after it was opened first. */
  closed(after: number): void
}

const now = (): number => performance.now()

export function createCircuitBreaker(
  bounds: CircuitBounds,
  events: CircuitEvents,
  clock: { now(): number },
): CircuitBreaker {
  let known = newCircuit(now())
  /** What has left and was taken since: counted together it costs two copies a turn and not two a message. */
  let left: { readonly departure: Departure; count: number } | undefined
  let taken: { readonly departure: Departure; count: number } | undefined
  let turnedAt = clock.now()
  let openedAt: number | undefined
  let timer: NodeJS.Timeout | undefined
  let wasDoubtful = false

  function addLeft(): void {
    if (left === undefined) return
    known = submittedTo(known, left.departure.leftAt, left.count)
    left = undefined
  }

  function addTaken(): void {
    if (taken === undefined) return
    const { departure, count } = taken
    taken = undefined
    become(settledBy(known, departure, 'taken', bounds, now(), count))
  }

  function circuit(): Circuit {
    addLeft()
    addTaken()
    return known
  }

  function become(next: Circuit): void {
    const before = known
    known = next
    const isNowDoubtful = isDoubtful(next, bounds, now())
    if (next.state === before.state && isNowDoubtful === wasDoubtful) return
    wasDoubtful = isNowDoubtful
    if (next.state !== before.state) turn(before.state)
    queueMicrotask(() => events.changed())
  }

  function turn(before: CircuitState): void {
    clearTimeout(timer)
    turnedAt = clock.now()
    const { state } = known
    if (state === 'open') {
      timer = setTimeout(look, Math.ceil(pauseLeft(known, now())))
      // A probe that failed is no news.
      if (before === 'closed') {
        openedAt = now()
        events.opened(known)
      }
    }
    if (state === 'closed') events.closed(now() - (openedAt ?? now()))
  }

  function look(): void {
    become(circuitAt(circuit(), bounds, now()))
    // A timer may be early by a fraction of a millisecond.
    if (known.state === 'open' && pauseLeft(known, now()) < 2) timer = setTimeout(look, 2)
  }

  return {
    submitted(at) {
      addTaken()
      if (left?.departure.leftAt !== at) addLeft()
      left ??= { departure: { epoch: known.epoch, answers: known.answers, leftAt: at }, count: 0 }
      left.count++
      return left.departure
    },
    settled(departure, outcome) {
      addLeft()
      if (outcome !== 'taken' || taken?.departure !== departure) addTaken()
      if (outcome !== 'taken') become(settledBy(known, departure, outcome, bounds, now()))
      else if (taken !== undefined) taken.count++
      else {
        taken = { departure, count: 1 }
        queueMicrotask(addTaken)
      }
    },
    look,
    state: () => circuit().state,
    mayLeave() {
      addTaken()
      return known.state === 'closed' || circuitRoom(circuit()) > 0
    },
    room: () => (isDoubtful(circuit(), bounds, now()) ? 0 : circuitRoom(known)),
    isDoubtful: () => isDoubtful(circuit(), bounds, now()),
    circuit,
    since: () => turnedAt,
    stop: () => clearTimeout(timer),
  }
}
