import { performance } from 'node:perf_hooks'

/** Milliseconds between two measurements of the utilization. */
const measureMilliseconds = 100

/**
 * Returns a function that is true if the event loop of this thread was busy for more than half of the time since the
 * last measurement, at least a tenth of a second ago.
 */
export function eventLoopBusy(): () => boolean {
  let last = performance.eventLoopUtilization()
  let lookedAt = performance.now()
  let isBusy = false
  return () => {
    const now = performance.now()
    if (now - lookedAt < measureMilliseconds) return isBusy
    const current = performance.eventLoopUtilization()
    isBusy = performance.eventLoopUtilization(current, last).utilization > 0.5
    last = current
    lookedAt = now
    return isBusy
  }
}
