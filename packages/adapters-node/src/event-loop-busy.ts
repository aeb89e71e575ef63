import { performance } from 'node:perf_hooks'

/** Utilization is looked at again after so long. */
const lookMilliseconds = 100

/**
 * Whether the event loop of this thread has worked for more than half of the time since the last look, at least a tenth
 * of a second.
 */
export function eventLoopBusy(): () => boolean {
  let last = performance.eventLoopUtilization()
  let lookedAt = performance.now()
  let isBusy = false
  return () => {
    const now = performance.now()
    if (now - lookedAt < lookMilliseconds) return isBusy
    const current = performance.eventLoopUtilization()
    isBusy = performance.eventLoopUtilization(current, last).utilization > 0.5
    last = current
    lookedAt = now
    return isBusy
  }
}
