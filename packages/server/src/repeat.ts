import type { Log } from './log.ts'

export interface Repeated {
  /** Resolves when it has run once, whatever came of it, or will never. */
  readonly ranOnce: Promise<void>
  /** Ends the present pause. */
  wake(): void
  /** Runs no more; resolves when what runs has ended. */
  stop(): Promise<void>
}

export interface Repeating {
  readonly what: string
  /** At most; a pause of a second or more may be a quarter shorter. A function is asked before each pause. */
  readonly pauseMilliseconds: number | (() => number)
  readonly log: Log
  /** What the first run waits for, unless it is woken before; nothing if not given. */
  readonly after?: Promise<unknown>
  /** 'more': again at once. */
  readonly work: () => Promise<'more' | 'all' | 'end'>
}

const backOffMilliseconds = 500
/** So that what is due leaves within 5 s of the return of a database, however long it was away (P-17). */
const backOffMillisecondsMax = 2000

/** Works, pauses, and works again, never twice at a time. After a failure the pauses grow to two seconds. */
export function repeat({ what, pauseMilliseconds, log, work, after }: Repeating): Repeated {
  const outage = outageOf(what, log)
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

/** Tells of failures that come again and again: the first one of an outage, and its end. */
export interface Outage {
  failed(problem: unknown): void
  worked(): void
}

export function outageOf(what: string, log: Log): Outage {
  let failures = 0
  return {
    failed: (err) => {
      if (failures++ === 0) log.error({ err, what }, 'failed, and is tried again until it works')
    },
    worked: () => {
      if (failures > 0) log.warn({ what, failures }, 'works again')
      failures = 0
    },
  }
}

/** What timers are made of; a test passes its own. */
interface TimerSource {
  /** Milliseconds. */
  readonly now: () => number
  /** Calls back once, after at least so many milliseconds; the answer cancels it. */
  readonly after: (milliseconds: number, callback: () => void) => () => void
}

interface Pending {
  readonly earliestAt: number
  end(): void
}

/** Calls back once, no later than a timer of so many milliseconds would; the answer cancels it. */
export type CoalescedTimeout = (callback: () => void, milliseconds: number) => () => void

/** Shorter pauses are those of a process that is in use: they end on time. */
const coalescedMilliseconds = 1000
/** So much of a pause must be over before another one that ends may end it too. */
const leastPart = 0.75

/**
 * Timers of a second or more that end together: when one fires, so do those with at most a quarter of their time left.
 * A process without work then wakes once for all its loops, since it is the wakeup that costs: about 0.5 ms of node's
 * CPU on a quiet machine.
 */
export function coalesceTimeouts({ now, after }: TimerSource): CoalescedTimeout {
  const pending = new Set<Pending>()

  return (callback, milliseconds) => {
    if (milliseconds < coalescedMilliseconds) return after(milliseconds, callback)
    const cancel = after(milliseconds, () => {
      const reached = now()
      for (const other of [...pending]) {
        // One that ended may have cancelled another.
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

/** Those of this process. */
export const coalescedTimeout = coalesceTimeouts({
  now: () => performance.now(),
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds)
    return () => clearTimeout(timer)
  },
})
