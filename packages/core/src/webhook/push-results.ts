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
}

export function createPushResults(webhooks: Pick<Webhooks, 'record' | 'release'>): PushResults {
  let results: PushResult[] = []
  let untried: ClaimedList[] = []
  let storing: Promise<void> | undefined
  let storingCount = 0
  let hasFailed = false

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
    keep: (result) => void results.push(result),
    giveBack: (lists) => void untried.push(...lists),
    count: () => waiting() + storingCount,
    hasFailed: () => hasFailed,
    isFull: (atLeast) => storing === undefined && waiting() >= atLeast,
    stored: async (atLeast) => {
      // One statement at a time: while it commits, the next results gather. What comes meanwhile is not waited for: there may be no end of it.
      await storing
      if (waiting() >= atLeast) storing ??= storeOnce().finally(() => (storing = undefined))
      await storing
    },
  }
}
