import { performance } from 'node:perf_hooks'

/** Milliseconds between two measurements of the utilization. */
const measureMilliseconds = 100

/**
 * Returns a function that returns true if the event loop of this thread was busy for more than half of the time between
 * the last two measurements. It measures again if the last measurement is at least 0.1 s old.
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
