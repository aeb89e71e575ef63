import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises'

const pauseMilliseconds = { min: 5, max: 250 }
const turnsBetweenLooks = 20

/**
 * Waits until `condition` returns a value other than false or undefined, and returns that value. The pause between
 * polls is a twentieth of the time waited so far, at least 5 ms and at most 250 ms, so that a condition that takes much
 * CPU is polled rarely during a long wait. Throws if `deadlineMilliseconds` have passed, and throws any error of
 * `condition`.
 */
export const until = <T>(condition: Condition<T>, deadlineMilliseconds = 60_000): Promise<Met<T>> =>
  look(condition, deadlineMilliseconds, (waited) =>
    setTimeout(Math.min(pauseMilliseconds.max, Math.max(pauseMilliseconds.min, waited / 20))),
  )

/**
 * Waits as `until` does, but polls every few turns of the event loop. For work in this process that never pauses, such
 * as dispatchers on a memory store.
 */
export const untilInTurns = <T>(condition: Condition<T>, deadlineMilliseconds = 60_000): Promise<Met<T>> =>
  look(condition, deadlineMilliseconds, async () => {
    for (let turn = 0; turn < turnsBetweenLooks; turn++) await nextTurn()
  })

type Condition<T> = () => T | Promise<T>
type Met<T> = Exclude<T, false | undefined>

async function look<T>(
  condition: Condition<T>,
  deadlineMilliseconds: number,
  pause: (waited: number) => Promise<void>,
): Promise<Met<T>> {
  const begin = performance.now()
  for (;;) {
    const met = await condition()
    if (met !== false && met !== undefined) return met as Met<T>
    const waited = performance.now() - begin
    if (waited > deadlineMilliseconds)
      throw new Error(`not met after ${deadlineMilliseconds} ms: ${condition.toString()}`)
    await pause(waited)
  }
}
