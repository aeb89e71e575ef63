import type { CircuitBounds, CircuitProblem, CircuitState, CircuitStatus } from '@gateway/core/dispatch'

/** Bounds that suit most carriers. */
export const circuitDefaults: CircuitBounds = {
  silentSeconds: 5,
  failuresPercent: 50,
  probeSeconds: 3,
  probeSecondsMax: 50,
}

/**
 * Outcome of one submission. Taken: accepted, or refused for good. Throttled: refused because of the rate, which slows
 * the carrier down and never opens the circuit. Refused again: the message had been temporarily refused before, so the
 * refusal says nothing about the carrier. Account broken: refused because of our account at the carrier, which would
 * refuse every other message as well. Unsent: the message was not sent, or its connection ended before an answer was
 * due.
 */
export type CircuitOutcome =
  'taken' | 'throttled' | 'refused-for-now' | 'refused-again' | 'account-broken' | 'unanswered' | 'unsent'

/** State of the circuit when a submission was sent. */
export interface Departure {
  readonly epoch: number
  readonly answers: number
  readonly leftAt: number
}

/** Callbacks of a circuit breaker. */
export interface CircuitListener {
  /**
   * Reports that the carrier may get more or fewer messages than before. Called at the end of the current turn of the
   * event loop.
   */
  changed(): void
  /** Reports that a closed circuit has opened. `detail` is the carrier's own explanation, if there is one. */
  opened(reason: CircuitProblem, detail: string | undefined): void
  /**
   * Reports that the circuit has closed, `afterMilliseconds` after it opened. `by` is 'answers' if answers closed it,
   * or 'idle' if nothing was sent.
   */
  closed(afterMilliseconds: number, by: 'answers' | 'idle'): void
}

/** Calls `call` once after some milliseconds. Returns a function that cancels the call. */
export type After = (milliseconds: number, call: () => void) => () => void

export interface CircuitClocks {
  /** Returns milliseconds of a clock that never goes back. */
  readonly now: () => number
  /** Clock of the times that operators see, in milliseconds since 1970. */
  readonly clock: { now(): number }
  readonly after: After
}

const machine: CircuitClocks = {
  now: () => performance.now(),
  clock: Date,
  after: (milliseconds, call) => {
    const timer = setTimeout(call, milliseconds)
    return () => clearTimeout(timer)
  },
}

/** Milliseconds between two calls of `look` while the circuit is half-open. */
const halfOpenMilliseconds = 1000

/** Number of answers after which the carrier gets as many messages at a time as its window allows. */
const provenEnough = 10
/** Number of accepted messages after which a half-open circuit closes at once. */
const takenEnough = 10
/** Number of last outcomes from which the share of failures is computed. */
const recentMax = 20
const lostLeast = 3
const refusedInRowLeast = 10
/** Milliseconds that a circuit must stay closed for the pauses to start again from the shortest. */
const calmMilliseconds = 60_000
/** Milliseconds after which a half-open circuit closes with fewer than `takenEnough` accepted messages. */
const settleMilliseconds = 10_000
/** Milliseconds without a submission after which a half-open circuit closes. */
const idleMilliseconds = 60_000
/** Share of `silentSeconds` without an answer after which the carrier gets no new messages. */
const doubtfulShare = 0.2
const silentTimes = 4
/**
 * Length of the pause after refusals, as a share of the usual pause. It is shorter because a refused probe is only
 * retried, whereas a probe without an answer ends as SENT 106.
 */
const refusedPauseShare = 0.1
const refusedPauseMilliseconds = 1000

/**
 * Circuit breaker of one carrier: decides by the answers to submissions, not by connections, whether the carrier
 * accepts messages. `now` is in milliseconds of the clock in `CircuitClocks`. The owner calls `look` several times a
 * second while a submission is outstanding; the timer of the circuit calls it while the circuit is not closed.
 *
 *   closed --silence, share without answers, ten distinct messages temporarily refused in a row, account broken--> open
 *   open --the pause is over, or a late answer--> half-open
 *   half-open --the same as closed, or one without an answer--> open
 *   half-open --ten taken, or one in ten seconds, and a share of failures below the bound--> closed
 *   half-open --a minute without any submission--> closed, and begins with one message
 *
 * After silence, each answer lets one more message leave at a time. After refusals, the first message that is taken
 * lifts that limit.
 *
 * A temporary refusal counts once per message. While any of ten consecutive messages is taken, refusals open nothing
 * (P-17).
 */
export class CircuitBreaker {
  readonly #bounds: CircuitBounds
  readonly #listener: CircuitListener
  readonly #clocks: CircuitClocks
  #cancelLook = (): void => undefined
  #state: CircuitState = 'closed'
  #since: number
  /** When the circuit entered its state, by the clock that operators see. */
  #turnedAt: number
  /** When the circuit last changed from closed to open. */
  #troubledSince: number
  #reason: CircuitProblem | undefined
  /** The carrier's own explanation of the last opening, if there is one. */
  #detail: string | undefined
  /** Number of openings. Submissions of an earlier epoch prove only that the carrier answers. */
  #epoch = 0
  /** Number of openings since the circuit last stayed closed for `calmMilliseconds`. */
  #openings = 0
  /** Current or last pause in milliseconds; 0 if the circuit never opened. */
  #pause = 0
  #openedByRefusals = false
  /** Messages of this epoch that were taken or temporarily refused, at most `provenEnough`; see `#acceptsAgain`. */
  #proven = 0
  /** Messages of this epoch that were taken. */
  #takenCount = 0
  /** Submissions of this epoch without an outcome. */
  #unanswered = 0
  /** Number of answers over all epochs. */
  #answers = 0
  /** When the first submission after the last answer was sent; undefined if no submission waits for an answer. */
  #silentSince: number | undefined
  /** When a submission was last sent or settled. */
  #movedAt: number
  /** Last outcomes as bits, the latest in the lowest bit. A 1 means a failure here, and a missing answer in `#lost`. */
  #failures = 0
  #lost = 0
  #recent = 0
  /** Number of distinct messages temporarily refused since the last accepted one. */
  #refusedInRow = 0
  #answerTime: number | undefined
  #wasDoubtful = false

  constructor(bounds: CircuitBounds, listener: CircuitListener, clocks: Partial<CircuitClocks> = {}) {
    this.#bounds = bounds
    this.#listener = listener
    this.#clocks = { ...machine, ...clocks }
    this.#since = this.#troubledSince = this.#movedAt = this.#clocks.now()
    this.#turnedAt = this.#clocks.clock.now()
  }

  get state(): CircuitState {
    return this.#state
  }

  /** Returns the state for operators. `slowSeconds` is the answer time above which the window shrinks. */
  status(slowSeconds: number): CircuitStatus {
    const { silentSeconds, failuresPercent, probeSeconds, probeSecondsMax } = this.#bounds
    return {
      ...{ state: this.#state, since: this.#turnedAt, reason: this.#reason },
      answerMilliseconds: this.#answerTime === undefined ? undefined : Math.round(this.#answerTime),
      ...{ silentSeconds, failuresPercent, probeSeconds, probeSecondsMax, slowSeconds },
      ...(this.#detail !== undefined && { detail: this.#detail }),
    }
  }

  stop(): void {
    this.#cancelLook()
  }

  /**
   * Returns how many more messages may be sent: none while the circuit is open, one right after the pause, and one more
   * with each answer.
   */
  room(): number {
    if (this.#state === 'open') return 0
    return this.#proven >= provenEnough ? Infinity : Math.max(0, 1 + this.#proven - this.#unanswered)
  }

  /** Returns true if no answer has come for longer than usual, so that other carriers should get new messages. */
  isDoubtful(now: number): boolean {
    return this.#state !== 'open' && this.#isSilentFor(this.#bounds.silentSeconds * doubtfulShare, now)
  }

  /** Milliseconds until the pause is over; 0 if the circuit is not open. */
  pauseLeft(now: number): number {
    return this.#state === 'open' ? Math.max(0, this.#since + this.#pause - now) : 0
  }

  submitted(now: number): Departure {
    this.#unanswered++
    this.#silentSince ??= now
    this.#movedAt = now
    return { epoch: this.#epoch, answers: this.#answers, leftAt: now }
  }

  /** Records an outcome. `detail` is the carrier's explanation of 'account-broken'. */
  settled({ epoch, answers, leftAt }: Departure, outcome: CircuitOutcome, now: number, detail?: string): void {
    const isAnswer = outcome !== 'unanswered' && outcome !== 'unsent'
    const isOfNumber = outcome === 'unanswered' && this.#isAnsweredSince(answers)
    if (isAnswer) this.#measure(now - leftAt)
    if (epoch === this.#epoch) {
      this.#movedAt = now
      this.#unanswered = Math.max(0, this.#unanswered - 1)
      if (isAnswer || this.#unanswered === 0) this.#silentSince = undefined
      if (isAnswer && outcome !== 'throttled' && outcome !== 'account-broken')
        this.#proven = Math.min(provenEnough, this.#proven + 1)
      if (outcome === 'taken') this.#taken(now)
      else if (outcome === 'refused-for-now') this.#refused(now)
      else if (outcome === 'account-broken') this.#open('account-broken', false, now, detail)
      else if (outcome === 'unanswered' && !isOfNumber) this.#unansweredFor(now)
    } else if (isAnswer && this.#state === 'open') {
      // A late refusal proves nothing new about a carrier that refuses.
      if (outcome === 'taken' || (!this.#openedByRefusals && this.#reason !== 'account-broken')) {
        if (outcome === 'taken') this.#acceptsAgain()
        this.#turn('half-open', now)
      }
    }
    this.#notify(now)
  }

  /**
   * Opens the circuit of a silent carrier, ends a pause that is over, and closes a half-open circuit that has worked
   * long enough.
   */
  look(now: number): void {
    if (this.#state === 'open') {
      if (this.pauseLeft(now) === 0) this.#turn('half-open', now)
    } else if (this.#isSilentFor(this.#bounds.silentSeconds, now)) this.#open('silent', false, now)
    else this.#closeIfWell(now)
    this.#notify(now)
  }

  #measure(elapsed: number): void {
    this.#answerTime = this.#answerTime === undefined ? elapsed : this.#answerTime + (elapsed - this.#answerTime) / 10
    this.#answers++
  }

  #isSilentFor(seconds: number, now: number): boolean {
    const silence = this.#silentSince === undefined ? 0 : now - this.#silentSince
    return silence > 0 && silence >= Math.max(seconds * 1000, (this.#answerTime ?? 0) * silentTimes)
  }

  /**
   * Returns true if the carrier has since answered most other submissions. Messages to some recipients never get an
   * answer, which is not a failure of the carrier.
   */
  #isAnsweredSince(answers: number): boolean {
    const { failuresPercent } = this.#bounds
    return this.#unanswered * 100 < (this.#unanswered + this.#answers - answers) * failuresPercent
  }

  #taken(now: number): void {
    this.#note(0, 0)
    this.#refusedInRow = 0
    this.#takenCount++
    this.#acceptsAgain()
    this.#closeIfWell(now)
  }

  /**
   * Lifts the limit of the probes when a message is taken after refusals. A carrier that refused messages has answered
   * all the time, so one message that it takes shows that it accepts messages again.
   */
  #acceptsAgain(): void {
    if (this.#state !== 'closed' && this.#openedByRefusals) this.#proven = provenEnough
  }

  #refused(now: number): void {
    this.#note(1, 0)
    this.#refusedInRow++
    if (this.#refusedInRow >= refusedInRowLeast && this.#isShare(this.#failures)) this.#open('failing', true, now)
  }

  #unansweredFor(now: number): void {
    this.#note(1, 1)
    const isFailing = countOf(this.#lost) >= lostLeast && this.#isShare(this.#lost)
    if (isFailing || this.#state === 'half-open') this.#open('failing', false, now)
  }

  #note(isFailure: 0 | 1, isLost: 0 | 1): void {
    const mask = 2 ** recentMax - 1
    this.#failures = ((this.#failures << 1) | isFailure) & mask
    this.#lost = ((this.#lost << 1) | isLost) & mask
    this.#recent = Math.min(recentMax, this.#recent + 1)
  }

  #isShare(bits: number): boolean {
    return countOf(bits) * 100 >= this.#recent * this.#bounds.failuresPercent
  }

  #closeIfWell(now: number): void {
    if (this.#state !== 'half-open') return
    const isIdle = this.#unanswered === 0 && now - Math.max(this.#since, this.#movedAt) >= idleMilliseconds
    const isEnough =
      this.#takenCount >= takenEnough || (this.#takenCount > 0 && now - this.#since >= settleMilliseconds)
    if (isIdle || (isEnough && !this.isDoubtful(now) && !this.#isShare(this.#failures))) this.#turn('closed', now)
  }

  #open(reason: CircuitProblem, byRefusals: boolean, now: number, detail?: string): void {
    const isCalm = this.#state === 'closed' && now - this.#since >= calmMilliseconds
    if (isCalm || (byRefusals && this.#takenCount > 0)) this.#openings = 0
    const { probeSeconds, probeSecondsMax } = this.#bounds
    const pause = Math.min(probeSecondsMax, probeSeconds * 2 ** this.#openings) * 1000
    this.#pause = byRefusals ? Math.min(refusedPauseMilliseconds, pause * refusedPauseShare) : pause
    this.#openings = Math.min(30, this.#openings + 1)
    this.#openedByRefusals = byRefusals
    this.#reason = reason
    this.#detail = detail
    this.#epoch++
    this.#silentSince = undefined
    this.#proven =
      this.#takenCount =
      this.#unanswered =
      this.#failures =
      this.#lost =
      this.#recent =
      this.#refusedInRow =
        0
    this.#turn('open', now)
  }

  #turn(state: CircuitState, now: number): void {
    const before = this.#state
    this.#state = state
    this.#since = now
    this.#turnedAt = this.#clocks.clock.now()
    this.#lookLater(now)
    this.#changed()
    if (before === 'closed' && this.#reason !== undefined) {
      this.#troubledSince = now
      this.#listener.opened(this.#reason, this.#detail)
    }
    if (state === 'closed') this.#listener.closed(now - this.#troubledSince, this.#takenCount > 0 ? 'answers' : 'idle')
  }

  #notify(now: number): void {
    const isDoubtful = this.isDoubtful(now)
    if (isDoubtful === this.#wasDoubtful) return
    this.#wasDoubtful = isDoubtful
    this.#changed()
  }

  #changed(): void {
    queueMicrotask(() => this.#listener.changed())
  }

  #lookLater(now: number): void {
    this.#cancelLook()
    if (this.#state === 'closed') return
    const wait = this.#state === 'open' ? Math.ceil(this.pauseLeft(now)) + 1 : halfOpenMilliseconds
    this.#cancelLook = this.#clocks.after(wait, () => {
      const at = this.#clocks.now()
      this.look(at)
      this.#lookLater(at)
    })
  }
}

const countOf = (bits: number): number => bits.toString(2).replaceAll('0', '').length
