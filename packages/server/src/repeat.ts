import type { Log } from './log.ts'

export interface Repeated {
  /** Resolves when the work has run once, successfully or not, or will never run. */
  readonly ranOnce: Promise<void>
  /** Ends the current pause. */
  wake(): void
  /** Stops the loop. Resolves when the running work has ended. */
  stop(): Promise<void>
}

export interface Repeating {
  readonly name: string
  /**
   * Maximum pause between runs. A pause of a second or more may be up to a quarter shorter. If this is a function, it
   * is called before each pause.
   */
  readonly pauseMilliseconds: number | (() => number)
  readonly log: Log
  /** Promise that the first run waits for, unless `wake` is called first; by default it does not wait. */
  readonly after?: Promise<unknown>
  /**
   * Does the work once. Returns 'more' to be called again at once, 'all' to be called after a pause, and 'end' to stop.
   */
  readonly work: () => Promise<'more' | 'all' | 'end'>
}

const backOffMilliseconds = 500
/**
 * Maximum pause after failures, short enough that due messages are sent within 5 s after a database has returned
 * (P-17).
 */
const backOffMillisecondsMax = 2000

/** Runs `work` again and again with pauses, never concurrently. After failures the pauses grow to two seconds. */
export function repeat({ name, pauseMilliseconds, log, work, after }: Repeating): Repeated {
  const outage = outageOf(name, log)
  let stopped = false
  let wake = (): void => undefined
  let backOff = 0
  let ran = (): void => undefined
  const ranOnce = new Promise<void>((resolve) => (ran = resolve))

  const pause = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      const cancel = coalescedTimeout(resolve, milliseconds)
      wake = () => {
        cancel()
        resolve()
      }
    })

  async function once(): Promise<'more' | 'all' | 'end'> {
    try {
      const done = await work()
      backOff = 0
      if (done !== 'end') outage.worked()
      return done
    } catch (problem) {
      backOff = Math.min(backOff === 0 ? backOffMilliseconds : backOff * 2, backOffMillisecondsMax)
      if (!stopped) outage.failed(problem)
      return 'all'
    }
  }

  const isStopped = (): boolean => stopped

  const pauseWanted = (): number => (typeof pauseMilliseconds === 'number' ? pauseMilliseconds : pauseMilliseconds())

  async function run(): Promise<void> {
    if (after !== undefined) await Promise.race([after, new Promise<void>((resolve) => (wake = resolve))])
    while (!isStopped()) {
      const done = await once()
      ran()
      if (done === 'end') return
      if (done === 'all' && !isStopped()) await pause(Math.max(pauseWanted(), backOff))
    }
  }

  const ended = run().finally(ran)
  return {
    ranOnce,
    wake: () => {
      if (backOff === 0) wake()
    },
    stop: () => {
      stopped = true
      wake()
      return ended
    },
  }
}

/** Logs repeated failures of some work: only the first failure of an outage, and the end of the outage. */
export interface Outage {
  failed(problem: unknown): void
  worked(): void
}

export function outageOf(name: string, log: Log): Outage {
  let failures = 0
  return {
    failed: (err) => {
      if (failures++ === 0) log.error({ err, what: name }, 'background work failed and is retried until it succeeds')
    },
    worked: () => {
      if (failures > 0) log.warn({ what: name, failures }, 'background work succeeds again')
      failures = 0
    },
  }
}

/** Source of timers; tests pass their own. */
interface TimerSource {
  /** Returns the current time, in milliseconds. */
  readonly now: () => number
  /** Calls back once, after at least this many milliseconds. Returns a function that cancels the call. */
  readonly after: (milliseconds: number, callback: () => void) => () => void
}

interface Pending {
  readonly earliestAt: number
  end(): void
}

/** Calls back once, no later than a timer of this many milliseconds. Returns a function that cancels the call. */
export type CoalescedTimeout = (callback: () => void, milliseconds: number) => () => void

/** Pauses of at least this many milliseconds may end early. Shorter pauses belong to a busy process and end on time. */
const coalescedMilliseconds = 1000
/** Minimum share of a pause that must have passed before it can end together with another pause. */
const leastPart = 0.75

/**
 * Returns timers that fire together: when a timer of a second or more fires, all others fire too if at most a quarter
 * of their time is left. An idle process then wakes once for all its loops. Each wakeup costs Node about 0.5 ms of CPU
 * time on a quiet machine.
 */
export function coalesceTimeouts({ now, after }: TimerSource): CoalescedTimeout {
  const pending = new Set<Pending>()

  return (callback, milliseconds) => {
    if (milliseconds < coalescedMilliseconds) return after(milliseconds, callback)
    const cancel = after(milliseconds, () => {
      const reached = now()
      for (const other of [...pending]) {
        // A timer that fired may have cancelled another one.
        if (pending.has(other) && (other === timeout || other.earliestAt <= reached)) other.end()
      }
    })
    const timeout: Pending = {
      earliestAt: now() + milliseconds * leastPart,
      end: () => {
        forget()
        callback()
      },
    }
    const forget = (): void => {
      cancel()
      pending.delete(timeout)
    }
    pending.add(timeout)
    return forget
  }
}

/** Coalesced timers of this process. */
export const coalescedTimeout = coalesceTimeouts({
  now: () => performance.now(),
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds)
    return () => clearTimeout(timer)
  },
})
