import { setTimeout } from 'node:timers/promises'

const pauseMilliseconds = { min: 5, max: 50 }

/**
 * Waits until `condition` gives something else than false or undefined, which it returns. Looks every 5 ms, and after a
 * while every 50 ms: a twentieth of the time it has waited. Throws if that has not happened after
 * `deadlineMilliseconds`, or what `condition` throws.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  deadlineMilliseconds = 60_000,
): Promise<Exclude<T, false | undefined>> {
  const begin = performance.now()
  for (;;) {
    const met = await condition()
    if (met !== false && met !== undefined) return met as Exclude<T, false | undefined>
    const waited = performance.now() - begin
    if (waited > deadlineMilliseconds)
      throw new Error(`not met after ${deadlineMilliseconds} ms: ${condition.toString()}`)
    await setTimeout(Math.min(pauseMilliseconds.max, Math.max(pauseMilliseconds.min, waited / 20)))
  }
}
