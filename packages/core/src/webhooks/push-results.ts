import type { Instant } from '../time/instant.ts'
import type { ClaimedList, PushResult, Webhooks } from './webhooks.ts'

/** Buffer of push results until they are stored. */
export interface PushResults {
  keep(result: PushResult): void
  /** Adds claimed lists that were not tried and are to be released. */
  giveBack(lists: readonly ClaimedList[]): void
  /** Returns the number of entries that are not stored, including those being stored. */
  count(): number
  /** Returns true if at least `atLeast` entries wait and no statement is under way. */
  isFull(atLeast: number): boolean
  /** Returns true if the last statement failed. */
  hasFailed(): boolean
  /** Stores the entries if there are at least `atLeast`. If that fails, they stay and the next call stores them. */
  stored(atLeast: number): Promise<void>
  /** Returns the milliseconds until a failed list is due again, or infinity if none is due within ten seconds. */
  nextMilliseconds(now: Instant): number
}

const soonMilliseconds = 10_000
/** Resolution at which times of the next attempts are remembered, so that at most a hundred of them are stored. */
const stepMilliseconds = 100

export function createPushResults(webhooks: Pick<Webhooks, 'record' | 'release'>): PushResults {
  let results: PushResult[] = []
  let untried: ClaimedList[] = []
  let storing: Promise<void> | undefined
  let storingCount = 0
  let hasFailed = false
  const retries = new Set<number>()

  const waiting = (): number => results.length + untried.length

  async function storeOnce(): Promise<void> {
    const [finished, released] = [results, untried]
    results = []
    untried = []
    storingCount = finished.length + released.length
    try {
      await Promise.all([webhooks.record(finished), webhooks.release(released)])
      hasFailed = false
    } catch (problem) {
      hasFailed = true
      results.unshift(...finished)
      untried.unshift(...released)
      throw problem
    } finally {
      storingCount = 0
    }
  }

  return {
    keep: (result) => {
      results.push(result)
      const { next, at } = result
      if (next !== undefined && next - at <= soonMilliseconds) retries.add(Math.ceil(next / stepMilliseconds) + 1)
    },
    giveBack: (lists) => void untried.push(...lists),
    count: () => waiting() + storingCount,
    hasFailed: () => hasFailed,
    isFull: (atLeast) => storing === undefined && waiting() >= atLeast,
    stored: async (atLeast) => {
      // Only one statement runs at a time. The call does not wait for results that arrive meanwhile, because new ones
      // may keep arriving.
      await storing
      if (waiting() >= atLeast) storing ??= storeOnce().finally(() => (storing = undefined))
      await storing
    },
    nextMilliseconds: (now) => {
      for (const step of retries) if (step * stepMilliseconds <= now) retries.delete(step)
      return Math.min(Infinity, ...[...retries].map((step) => step * stepMilliseconds - now))
    },
  }
}
