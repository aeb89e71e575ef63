import type { Instant } from '../time/instant.ts'
import type { ClaimedList, PushResult, Webhooks } from './webhooks.ts'

/** What came of requests, until it is stored. */
export interface PushResults {
  keep(result: PushResult): void
  /** Lists that were claimed and not tried. */
  giveBack(lists: readonly ClaimedList[]): void
  /** What is not stored, also what is being stored. */
  count(): number
  /** So many are not stored, and nothing is being stored. */
  isFull(atLeast: number): boolean
  /** The last time, something could not be stored. */
  hasFailed(): boolean
  /** Stores what was kept before, if that is `atLeast` so much. What failed is kept, and stored by the next call. */
  stored(atLeast: number): Promise<void>
  /** Until a list that failed a moment ago is tried again, and a little more; infinity: none is within ten seconds. */
  nextMilliseconds(now: Instant): number
}

const soonMilliseconds = 10_000
/** Times of tries are told apart by no less, so that there are at most a hundred. */
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
    const [told, back] = [results, untried]
    results = []
    untried = []
    storingCount = told.length + back.length
    try {
      await Promise.all([webhooks.record(told), webhooks.release(back)])
      hasFailed = false
    } catch (problem) {
      hasFailed = true
      results.unshift(...told)
      untried.unshift(...back)
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
      // One statement at a time, while which the next results gather; those are not waited for, there may be no end.
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
