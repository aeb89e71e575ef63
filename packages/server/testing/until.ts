import { setImmediate, setTimeout } from 'node:timers/promises'

/**
 * Milliseconds for which the condition is checked in every turn of the event loop. After that it is checked every 5 ms.
 */
const eagerMs = 20

/** Waits for a condition outside the test's control. Throws after `deadlineMs`. */
export const until = async (condition: () => boolean, deadlineMs = 60_000): Promise<void> => {
  const begin = performance.now()
  while (!condition()) {
    const waited = performance.now() - begin
    if (waited > deadlineMs) throw new Error(`Not within ${deadlineMs} ms: ${condition.toString()}`)
    await (waited < eagerMs ? setImmediate() : setTimeout(5))
  }
}
