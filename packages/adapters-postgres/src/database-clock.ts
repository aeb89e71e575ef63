import { instant, type Clock } from '@gateway/core/time'
import type { Log } from './settings.ts'

/** The database's time, whatever the clock of this machine says (P-18; docs/decisions/0070). */
export interface DatabaseClock extends Clock {
  /**
   * Asks the database for its time, and then every minute until the connections are closed; in between a clock that is
   * never set counts on. Before the first answer `now` is the time of this machine. Rejects if the database does not
   * answer.
   */
  compare(): Promise<void>
  /** How far the clock of this machine is ahead of the database's; negative: behind. 0 before the first answer. */
  offsetSeconds(): number
}

export interface DatabaseClockOptions {
  /** The database's time, in milliseconds since 1970. */
  readonly ask: () => Promise<number>
  readonly log: Log
  /** The clock of this machine, in milliseconds since 1970. */
  readonly machine?: () => number
  /** Milliseconds of a clock that is never set. */
  readonly elapsed?: () => number
}

const everyMilliseconds = 60_000
/**
 * The clock of this machine was set, or the machine slept, if it has moved by so much against the clock that is never
 * set.
 */
const stepMilliseconds = 1000
const warnSeconds = 2

export function databaseClock({
  ask,
  log,
  machine = () => Date.now(),
  elapsed = () => performance.now(),
}: DatabaseClockOptions): DatabaseClock & { close(): Promise<void> } {
  /** The time was `at` when `elapsed` was `elapsedAt`. */
  let known: { readonly at: number; readonly elapsedAt: number } | undefined
  let offset = 0
  let toldSeconds = 0
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
    // The answer is as old as its way back. A guess that the answer does not contradict is better than half of a long
    // way.
    const isPossible = guess >= answer - 1 && guess <= answer + took + 1
    known = { at: isPossible ? guess : answer + took / 2, elapsedAt }
    offset = machine() - known.at
    tell(offset / 1000)
    if (!isClosed) timer ??= setInterval(compareSoon, everyMilliseconds).unref()
  }

  /** A database that does not answer is reported elsewhere. */
  const compareSoon = (): void => void (comparing = compare().catch(() => undefined))

  function tell(seconds: number): void {
    const isWrong = Math.abs(seconds) >= warnSeconds
    const wasWrong = Math.abs(toldSeconds) >= warnSeconds
    if (isWrong === wasWrong && Math.abs(seconds - toldSeconds) < warnSeconds) return
    toldSeconds = seconds
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
    /** Resolves when the comparison that is under way has ended. */
    close: () => {
      isClosed = true
      clearInterval(timer)
      return comparing
    },
  }
}
