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
 * Timers of a second or more that end together: when one fires, so do those with at most a quarter of their time left. A process
 * without work then wakes once for all its loops, since it is the wakeup that costs: about 0.5 ms of node's CPU on a quiet machine.
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
