import type {
  Availability,
  CarrierId,
  CarrierMode,
  CarrierStatus,
  CircuitBounds,
  CircuitProblem,
  Submission,
} from '@gateway/core/dispatch'
import { createHistogram, type HistogramCounts } from '@gateway/core/fleet'
import { slowSecondsOf, type WindowSettings } from './adaptive-window.ts'
import type { CarrierRates } from './carrier-rates.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import type { Notices } from './notices.ts'
import { Outbox, type Channel, type OutboxSettings, type Transport } from './outbox.ts'
import type { Answered } from './outgoing-message.ts'
import { Pace } from './pace.ts'
import { SharedRate } from './shared-rate.ts'

/** Settings that every carrier has. */
export interface OutgoingSettings
  extends OutboxSettings, CircuitBounds, Pick<WindowSettings, 'responseSeconds' | 'slowSeconds'> {
  /**
   * Maximum number of parts a second of all processes together. If undefined, only the carrier's answers limit the
   * rate.
   */
  readonly perSecond: number | undefined
}

/** Store in which processes share the rate of a carrier with `perSecond`. */
export interface RateSharing {
  readonly rates: CarrierRates
  readonly leaseSeconds: number
}

/** Upper bounds of the histogram of response times, in seconds. */
const responseBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/**
 * Maximum number of parts that wait in this process, as seconds of the carrier's rate. Further messages wait in the
 * store, where other carriers can claim them.
 */
const waitingSeconds = 0.1

/**
 * Sends the submissions that a dispatcher makes to one carrier. Combines an outbox, a pace, a circuit breaker and the
 * share of the carrier's rate that this process may use. A `Carrier` delegates its methods for submissions to it.
 *
 *   open --finish--> finishing: the outstanding submissions are answered, nothing new is sent --end--> ended
 *
 * An operator sets `mode`. Paused and drained carriers get no submissions. Once a drained carrier is `quiet`, the
 * `Carrier` ends its connections.
 */
export class Outgoing<Segment, Over extends Channel> {
  readonly #carrier: CarrierId
  readonly #settings: OutgoingSettings
  readonly #transport: Transport<Segment, Over>
  readonly #notices: Notices
  readonly #pace: Pace
  readonly #circuit: CircuitBreaker
  readonly #outbox: Outbox<Segment, Over>
  readonly #responseTimes = createHistogram(responseBounds)
  #sharedRate: SharedRate | undefined
  #mode: CarrierMode = 'running'
  #availabilityChanged = (): void => undefined

  constructor(
    carrier: CarrierId,
    settings: OutgoingSettings,
    transport: Transport<Segment, Over>,
    notices: Notices,
    clock: { now(): number } = Date,
  ) {
    this.#carrier = carrier
    this.#settings = settings
    this.#transport = transport
    this.#notices = notices
    this.#pace = new Pace(settings.perSecond)
    this.#circuit = new CircuitBreaker(
      settings,
      {
        changed: () => this.changed(),
        opened: (reason, detail) => notices.fail(openedText(reason, detail, settings)),
        closed: (after, by) => notices.works(closedText(after, by)),
      },
      { clock },
    )
    this.#outbox = new Outbox(settings, transport, { pace: this.#pace, circuit: this.#circuit }, notices.note)
  }

  /** Starts to share the rate with other processes. A carrier without `perSecond` shares nothing. */
  shareRate({ rates, leaseSeconds }: RateSharing): void {
    const { perSecond } = this.#settings
    if (perSecond === undefined) return
    const events = { changed: () => this.changed(), notify: this.#notices.fail }
    const lease = { carrier: this.#carrier, rates, perSecond, leaseSeconds }
    this.#sharedRate = new SharedRate({ ...lease, pace: this.#pace, ...events })
    this.#sharedRate.start()
  }

  // Submissions

  submit(messages: readonly Submission[], answered: Answered): void {
    this.#outbox.submit(messages, answered)
  }

  /** Sends what may be sent now. To be called when channels have more room. */
  pump(): void {
    this.#outbox.pump()
  }

  /** Reports the answers received so far. To be called before receipts are stored. */
  giveAnswers(): void {
    this.#outbox.giveAnswers()
  }

  /** Records the time from a request to its answer. */
  answered(milliseconds: number): void {
    this.#responseTimes.observe(milliseconds / 1000)
  }

  room(): number {
    const now = performance.now()
    if (this.#pace.isPaused(now)) return 0
    const { perSecond = Infinity } = this.#pace.state(now)
    const free = this.#transport.channels().reduce((sum, channel) => sum + channel.room(), 0)
    const paced = perSecond === 0 ? 0 : Math.max(1, Math.ceil(perSecond * waitingSeconds))
    const proven = this.#circuit.isDoubtful(now) ? 0 : this.#circuit.room()
    return Math.max(0, Math.min(free, paced, proven) - this.#outbox.waiting)
  }

  /** Answers unsent submissions as temporarily refused, except submissions that a throttling carrier gets in 1 s. */
  handBack(): void {
    this.#outbox.handBack(this.#sentWithinSecond())
  }

  responseTime(): HistogramCounts {
    return this.#responseTimes.read()
  }

  // Availability

  get mode(): CarrierMode {
    return this.#mode
  }

  setMode(mode: CarrierMode): void {
    this.#mode = mode
  }

  availability(): Availability {
    const now = performance.now()
    if (!this.#transport.isConnected() || this.#circuit.state === 'open') return 'down'
    if (this.#circuit.state === 'half-open') return 'probing'
    const isSlow = this.#circuit.isDoubtful(now) || this.#transport.isSlow(now)
    return isSlow || this.#pace.state(now).isThrottled ? 'throttled' : 'available'
  }

  onAvailability(changed: () => void): void {
    this.#availabilityChanged = changed
  }

  /** Sends what may be sent now, and reports that the availability may have changed. */
  changed(): void {
    this.#outbox.pump()
    this.#availabilityChanged()
  }

  /** Returns the part of the status that concerns submissions. */
  status(): Pick<CarrierStatus, 'perSecond' | 'isThrottled' | 'waiting' | 'lastError' | 'circuit'> {
    return {
      ...this.#pace.state(performance.now()),
      waiting: this.#outbox.waiting,
      lastError: this.#notices.lastError,
      circuit: this.#circuit.status(slowSecondsOf(this.#settings)),
    }
  }

  // End

  /** Resolves when no submission is outstanding. */
  quiet(): Promise<void> {
    return this.#outbox.quiet()
  }

  /**
   * Temporarily refuses unsent submissions, including later ones. Waits until the other submissions are answered, or
   * until `deadline` resolves. After that nothing is sent any more.
   */
  async finish(deadline: Promise<unknown>): Promise<void> {
    this.#outbox.shut()
    await Promise.race([this.#outbox.quiet(), deadline])
    this.#outbox.abandon()
  }

  /**
   * Gives back the share of the rate and ends the timers. To be called after `finish`, when every request was settled.
   * Waits for the store until `deadline`.
   */
  async end(deadline: Promise<unknown>): Promise<void> {
    await Promise.race([this.#sharedRate?.stop(), deadline])
    await this.#outbox.quiet()
    this.#outbox.stop()
    this.#circuit.stop()
  }

  /** Returns how many waiting messages are sent within a second although the carrier throttles. */
  #sentWithinSecond(): number {
    const now = performance.now()
    const { perSecond = 0, isThrottled } = this.#pace.state(now)
    const isSending = this.#mode === 'running' && !this.#pace.isPaused(now) && this.#circuit.state === 'closed'
    return isThrottled && isSending ? Math.floor(perSecond) : 0
  }
}

function openedText(reason: CircuitProblem, detail: string | undefined, bounds: CircuitBounds): string {
  const causes = {
    silent: `it has answered no submission for ${bounds.silentSeconds} s or more`,
    failing: `${bounds.failuresPercent} percent or more of the latest messages got no answer, or were refused for now and none taken`,
    'account-broken': `it refuses every message because of our account${detail === undefined ? '' : ` (${detail})`}`,
  } satisfies Record<CircuitProblem, string>
  return `${causes[reason]}; it gets no messages but probes`
}

const closedText = (after: number, by: 'answers' | 'idle'): string =>
  by === 'answers'
    ? `it answers again after ${Math.round(after / 1000)} s`
    : 'it has had nothing to send for a minute; the next message tries it like a new carrier'
