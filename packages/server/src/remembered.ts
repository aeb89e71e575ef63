import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'

/** Milliseconds for which the result of a query is reused. */
const rememberedMilliseconds = 5000
/** Maximum milliseconds to wait for a query. After that, the metrics are returned without its result. */
const waitMilliseconds = 1000

/**
 * Returns a function that queries the database at most every few seconds and waits only briefly for the result. The
 * function returns an empty list if the database does not answer.
 */
export function remembered<One>(query: () => Promise<readonly One[]>): () => Promise<readonly One[]> {
  let known: readonly One[] = []
  let knownAt = -Infinity
  let looking: Promise<void> | undefined

  async function look(): Promise<void> {
    // The other metrics of the scrape are read first, so that `gateway_database_waiting` does not count this query.
    await nextTurn()
    try {
      known = await query()
      knownAt = performance.now()
    } catch {
      known = []
    } finally {
      looking = undefined
    }
  }
  return async () => {
    if (performance.now() - knownAt > rememberedMilliseconds) looking ??= look()
    await Promise.race([looking, delay(waitMilliseconds, undefined, { ref: false })])
    return looking === undefined ? known : []
  }
}
