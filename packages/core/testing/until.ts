import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises'

const pauseMilliseconds = { min: 5, max: 50 }
const turnsBetweenLooks = 20

/**
 * Waits until `condition` gives something else than false or undefined, which it returns. Looks every 5 ms, and after a
 * while every 50 ms: a twentieth of the time it has waited. Throws if that has not happened after
 * `deadlineMilliseconds`, or what `condition` throws.
 */
export const until = <T>(condition: Condition<T>, deadlineMilliseconds = 60_000): Promise<Met<T>> =>
  look(condition, deadlineMilliseconds, (waited) =>
    setTimeout(Math.min(pauseMilliseconds.max, Math.max(pauseMilliseconds.min, waited / 20))),
  )

/**
 * The same for what goes on in this process without a pause, as dispatchers on a memory do, so that each millisecond
 * of waiting is one of work: looks every few turns of the event loop.
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
