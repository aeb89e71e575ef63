import { setImmediate } from 'node:timers/promises'

/** Waits for what happens outside the test's hands; throws when `deadlineMs` have passed. */
export const until = async (condition: () => boolean, deadlineMs = 60_000): Promise<void> => {
  const end = performance.now() + deadlineMs
  while (!condition()) {
    if (performance.now() > end) throw new Error(`Not within ${deadlineMs} ms: ${condition.toString()}`)
    await setImmediate()
  }
}
