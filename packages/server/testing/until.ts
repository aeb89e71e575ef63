import { setImmediate, setTimeout } from 'node:timers/promises'

/** For so long it looks in every turn of the event loop, then every few milliseconds. */
const eagerMs = 20

/** Waits for what happens outside the test's hands; throws when `deadlineMs` have passed. */
export const until = async (condition: () => boolean, deadlineMs = 60_000): Promise<void> => {
  const begin = performance.now()
  while (!condition()) {
    const waited = performance.now() - begin
    if (waited > deadlineMs) throw new Error(`Not within ${deadlineMs} ms: ${condition.toString()}`)
    await (waited < eagerMs ? setImmediate() : setTimeout(5))
  }
}
