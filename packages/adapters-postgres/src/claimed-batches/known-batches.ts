import type { ClaimedBatchId, DispatcherId } from '@gateway/core/dispatch'
import type { MessageId } from '@gateway/core/messages'
import type { Connections } from '../connections.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { release } from '../sql/batches.ts'

/** State of a batch that this process has claimed. */
interface KnownBatch {
  /** Number of the carrier in the tables. */
  readonly carrier: number
  /** Ids of messages that are not recorded, settled or postponed yet. */
  readonly ids: Set<number>
}

/** Claimed batches of this process's dispatchers. The database decides; this copy only saves queries. */
export type KnownBatches = ReturnType<typeof createKnownBatches>

export function createKnownBatches(hot: Connections) {
  const dispatchers = new Map<DispatcherId, Map<ClaimedBatchId, KnownBatch>>()
  /**
   * Number of the carrier of each dispatcher that has claimed. It is kept after the dispatcher has ended, because the
   * dispatcher may still get answers.
   */
  const carriers = new Map<DispatcherId, number>()
  const get = (dispatcher: DispatcherId, batch: ClaimedBatchId) => dispatchers.get(dispatcher)?.get(batch)
  return {
    get,
    carrierOf: (dispatcher: DispatcherId): number | undefined => carriers.get(dispatcher),
    add(dispatcher: DispatcherId, batch: ClaimedBatchId, known: KnownBatch): void {
      carriers.set(dispatcher, known.carrier)
      const batches = dispatchers.get(dispatcher) ?? new Map<ClaimedBatchId, KnownBatch>()
      dispatchers.set(dispatcher, batches.set(batch, known))
    },
    /**
     * Removes messages from the batch. After the last message it ends the batch, unless `ended` says that the batch has
     * ended already.
     */
    async leave(
      dispatcher: DispatcherId,
      batch: ClaimedBatchId,
      ids: readonly MessageId[],
      ended = false,
    ): Promise<void> {
      const known = get(dispatcher, batch)
      for (const id of ids) known?.ids.delete(id)
      if (known === undefined || known.ids.size > 0) return
      if (!ended) await retryOnConnectionLoss(hot, release, { dispatcher, batch })
      dispatchers.get(dispatcher)?.delete(batch)
    },
    /**
     * Returns true if another dispatcher has recovered the batch. A batch whose last message was removed earlier does
     * not exist either, but it is not fenced.
     */
    isFenced(
      dispatcher: DispatcherId,
      batch: ClaimedBatchId,
      found: { alive: boolean; registered: boolean } | undefined,
    ): boolean {
      if (found?.alive === true) return false
      return found?.registered !== true || (get(dispatcher, batch)?.ids.size ?? 0) > 0
    },
    dropAll: (dispatcher: DispatcherId): void => void dispatchers.delete(dispatcher),
  }
}
