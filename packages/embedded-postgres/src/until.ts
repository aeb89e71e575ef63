import { setTimeout as delay } from 'node:timers/promises'

/** Asks every 10 ms until `condition` holds; answers whether it did within `milliseconds`. */
export const until = async (condition: () => Promise<boolean>, milliseconds: number): Promise<boolean> => {
  const deadline = performance.now() + milliseconds
  while (!(await condition())) {
    if (performance.now() > deadline) return false
    await delay(10)
  }
  return true
}
