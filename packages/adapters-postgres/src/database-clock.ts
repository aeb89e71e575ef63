import { instant, type Clock, type Instant } from '@gateway/core/time'
import type { Log } from './settings.ts'

export interface DatabaseClockOptions {
  /** Reads the database's time, in milliseconds since 1970. */
  readonly ask: () => Promise<number>
  readonly log: Log
  /** Reads the clock of this machine, in milliseconds since 1970. */
  readonly machine?: () => number
  /** Reads a monotonic clock, in milliseconds. */
  readonly elapsed?: () => number
}

const everyMilliseconds = 60_000
/** If this machine's clock and the monotonic clock differ by this much, the clock was set or the machine slept. */
const stepMilliseconds = 1000
const warnSeconds = 2

/**
 * Clock that shows the database's time, independent of the clock of this machine (P-18; docs/decisions/0070). Before
 * the first comparison it shows the time of this machine. Between comparisons, a monotonic clock counts on.
 */
export class DatabaseClock implements Clock {
  readonly #options: Required<DatabaseClockOptions>
  /** Last comparison: when `elapsed` returned `elapsedAt`, the database's time was `at`. */
  #known: { readonly at: number; readonly elapsedAt: number } | undefined
  /** Milliseconds by which the clock of this machine was ahead at the last comparison. */
  #offset = 0
  #loggedSeconds = 0
  #askedAt = -Infinity
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  #comparing: Promise<void> = Promise.resolve()

  constructor({ machine = () => Date.now(), elapsed = () => performance.now(), ...options }: DatabaseClockOptions) {
    this.#options = { ...options, machine, elapsed }
  }

  /** Returns the time. Compares in the background if the clock of this machine was set or the machine slept. */
  now(): Instant {
    const { machine, elapsed } = this.#options
    const now = this.#time()
    const isStep = this.#known !== undefined && Math.abs(machine() - now - this.#offset) > stepMilliseconds
    if (isStep && !this.#isClosed && elapsed() - this.#askedAt > stepMilliseconds) this.#compareSoon()
    return instant(Math.round(now))
  }

  /**
   * Compares this clock with the database's time now, and then every minute until the connections are closed. Rejects
   * if the database does not answer.
   */
  async compare(): Promise<void> {
    const { ask, machine, elapsed } = this.#options
    const begun = (this.#askedAt = elapsed())
    const answer = await ask()
    const elapsedAt = elapsed()
    const took = elapsedAt - begun
    const guess = this.#time()
    // The time in an answer is too old by the time that the answer took to arrive, which is unknown. The running clock
    // is more exact than an estimate of half the round trip, so it is kept unless the answer contradicts it.
    const isPossible = guess >= answer - 1 && guess <= answer + took + 1
    this.#known = { at: isPossible ? guess : answer + took / 2, elapsedAt }
    this.#offset = machine() - this.#known.at
    this.#logOffset(this.#offset / 1000)
    if (!this.#isClosed) this.#timer ??= setInterval(() => this.#compareSoon(), everyMilliseconds).unref()
  }

  /**
   * Returns the seconds by which the clock of this machine is ahead of the database's, negative if it is behind. 0
   * before the first comparison.
   */
  offsetSeconds(): number {
    return this.#offset / 1000
  }

  /** Stops comparing. Resolves when a comparison in progress has ended. */
  close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    return this.#comparing
  }

  #time(): number {
    const { machine, elapsed } = this.#options
    return this.#known === undefined ? machine() : this.#known.at + elapsed() - this.#known.elapsedAt
  }

  /** Compares in the background. Errors are ignored, because a database that does not answer is reported elsewhere. */
  #compareSoon(): void {
    this.#comparing = this.compare().catch(() => undefined)
  }

  #logOffset(seconds: number): void {
    const { log } = this.#options
    const isWrong = Math.abs(seconds) >= warnSeconds
    const wasWrong = Math.abs(this.#loggedSeconds) >= warnSeconds
    if (isWrong === wasWrong && Math.abs(seconds - this.#loggedSeconds) < warnSeconds) return
    this.#loggedSeconds = seconds
    const difference = `${Math.abs(seconds).toFixed(0)} s ${seconds > 0 ? 'ahead of' : 'behind'}`
    if (isWrong)
      log.warn(`the clock of this machine is ${difference} the database's, which is used instead: set it right`)
    else log.info("the clock of this machine agrees with the database's again")
  }
}
