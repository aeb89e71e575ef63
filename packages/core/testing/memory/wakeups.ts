import type { ClaimedBatches, Sleeper } from '@gateway/core/dispatch'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export const memorySleeper =
  (store: MemoryStore): ClaimedBatches['sleeper'] =>
  (wake): Sleeper => {
    // Wrapped in a new function, so that two sleepers with the same `wake` are two members of the set.
    const notify = () => wake()
    const awake = atomic(() => void store.sleepers.delete(notify))
    return {
      sleep: atomic(() => {
        store.sleepers.add(notify)
        const at = store.later.earliest()
        return { nextDueMilliseconds: at === undefined ? undefined : Math.max(0, at - store.clock.now()) }
      }),
      awake,
      close: awake,
    }
  }

/**
 * Wakes the sleepers, after work has become due or was scheduled. They are called after the current synchronous step.
 */
export function wakeSleepers(store: MemoryStore): void {
  for (const wake of store.sleepers) queueMicrotask(wake)
}
