import { setTimeout } from 'node:timers/promises'

const pauseMilliseconds = 5

/**
 * Waits until `condition` gives something else than false or undefined, which it returns; looks every few milliseconds. Throws
 * if that has not happened after `deadlineMilliseconds`. What `condition` throws, it throws.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  deadlineMilliseconds = 60_000,
): Promise<Exclude<T, false | undefined>> {
  const end = performance.now() + deadlineMilliseconds
  for (;;) {
    const met = await condition()
    if (met !== false && met !== undefined) return met as Exclude<T, false | undefined>
    if (performance.now() > end) throw new Error(`not met after ${deadlineMilliseconds} ms: ${condition.toString()}`)
    await setTimeout(pauseMilliseconds)
  }
}
