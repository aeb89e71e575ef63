import { instant, type Clock } from '@gateway/core/time'
import type { Log } from './settings.ts'

/** Clock that shows the database's time, independent of the clock of this machine (P-18; docs/decisions/0070). */
export interface DatabaseClock extends Clock {
  /**
   * Compares this clock with the database's time now, and then every minute until the connections are closed. Between
   * comparisons, a monotonic clock counts on. Before the first comparison `now` is the time of this machine. Rejects if
   * the database does not answer.
   */
  compare(): Promise<void>
  /**
   * Returns the seconds by which the clock of this machine is ahead of the database's, negative if it is behind. 0
   * before the first comparison.
   */
  offsetSeconds(): number
}

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

export function databaseClock({
  ask,
  log,
  machine = () => Date.now(),
  elapsed = () => performance.now(),
}: DatabaseClockOptions): DatabaseClock & { close(): Promise<void> } {
  /** Last comparison: when `elapsed` returned `elapsedAt`, the database's time was `at`. */
  let known: { readonly at: number; readonly elapsedAt: number } | undefined
  let offset = 0
  let loggedSeconds = 0
  let askedAt = -Infinity
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let comparing: Promise<void> = Promise.resolve()

  const time = (): number => (known === undefined ? machine() : known.at + elapsed() - known.elapsedAt)

  async function compare(): Promise<void> {
    const begun = (askedAt = elapsed())
    const answer = await ask()
    const elapsedAt = elapsed()
    const took = elapsedAt - begun
    const guess = time()
    // When the answer arrives, the time in it is old by the duration of its way back, which is unknown. The running
    // clock is more exact than an estimate of half the round trip. So it is kept unless the answer contradicts it.
    const isPossible = guess >= answer - 1 && guess <= answer + took + 1
    known = { at: isPossible ? guess : answer + took / 2, elapsedAt }
    offset = machine() - known.at
    logOffset(offset / 1000)
    if (!isClosed) timer ??= setInterval(compareSoon, everyMilliseconds).unref()
  }

  /** Compares in the background. Errors are ignored, because a database that does not answer is reported elsewhere. */
  const compareSoon = (): void => void (comparing = compare().catch(() => undefined))

  function logOffset(seconds: number): void {
    const isWrong = Math.abs(seconds) >= warnSeconds
    const wasWrong = Math.abs(loggedSeconds) >= warnSeconds
    if (isWrong === wasWrong && Math.abs(seconds - loggedSeconds) < warnSeconds) return
    loggedSeconds = seconds
    const difference = `${Math.abs(seconds).toFixed(0)} s ${seconds > 0 ? 'ahead of' : 'behind'}`
    if (isWrong) {
      log.warn(`the clock of this machine is ${difference} the database's, which is used instead: set it right`)
    } else log.info("the clock of this machine agrees with the database's again")
  }

  return {
    now: () => {
      const now = time()
      const isStep = known !== undefined && Math.abs(machine() - now - offset) > stepMilliseconds
      if (isStep && !isClosed && elapsed() - askedAt > stepMilliseconds) compareSoon()
      return instant(Math.round(now))
    },
    compare,
    offsetSeconds: () => offset / 1000,
    /** Stops comparing. Resolves when a comparison in progress has ended. */
    close: () => {
      isClosed = true
      clearInterval(timer)
      return comparing
    },
  }
}
