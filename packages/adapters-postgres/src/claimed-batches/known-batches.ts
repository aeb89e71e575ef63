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
  /** The carrier's number of each dispatcher that has claimed. Kept when it ends: it may get answers later. */
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
     * Removes messages from the batch, and ends the batch after its last message unless `ended` says that it has ended.
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
     * not exist either, but is not fenced.
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
