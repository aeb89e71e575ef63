import type { BulkSends } from '@gateway/core/bulk-sends'
import { repeat, type Log, type Repeated } from '@gateway/server'

/** Milliseconds between two polls while sends are under way. */
const pauseMilliseconds = 1000
/**
 * Milliseconds between two polls while sends are not under way. A send that is started in this process ends the pause,
 * so only calls that another process has given up wait this long.
 */
const quietMilliseconds = 10_000
/** Milliseconds for which the pauses stay short after a call was found or a send was started or stopped. */
const stirredMilliseconds = 60_000

export interface BulkCalls {
  /** Wraps a port so that a send that this process starts or stops is processed without waiting for the next poll. */
  waking(bulkSends: BulkSends): BulkSends
  /** Processes the calls of started bulk sends, including those started in other processes. */
  start(sendNextCall: () => Promise<'more' | 'nothing'>, log: Log): Repeated
}

export function createBulkCalls(): BulkCalls {
  let stirredAt = -Infinity
  let calls: Repeated | undefined

  const isStirred = (): boolean => performance.now() - stirredAt < stirredMilliseconds
  const stir = (): void => void (stirredAt = performance.now())
  function wakeIf(isChanged: boolean): boolean {
    if (isChanged) {
      stir()
      calls?.wake()
    }
    return isChanged
  }

  return {
    waking: (bulkSends) => ({
      ...bulkSends,
      start: async (...send) => wakeIf(await bulkSends.start(...send)),
      stop: async (...send) => wakeIf(await bulkSends.stop(...send)),
    }),
    start: (sendNextCall, log) =>
      (calls = repeat({
        name: 'send in bulk',
        pauseMilliseconds: () => (isStirred() ? pauseMilliseconds : quietMilliseconds),
        log,
        work: async () => {
          if ((await sendNextCall()) !== 'more') return 'all'
          stir()
          return 'more'
        },
      })),
  }
}
