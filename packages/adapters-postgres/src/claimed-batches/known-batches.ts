import type { ClaimedBatchId, DispatcherId } from '@gateway/core/dispatch'
import type { MessageId } from '@gateway/core/messages'
import type { Connections } from '../connections.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { release } from '../sql/batches.ts'

/** What this process knows of a batch that it claimed. */
interface KnownBatch {
  /** The carrier's number. */
  readonly carrier: number
  /** The ids that were not recorded, settled or postponed yet. */
  readonly ids: Set<number>
}

/** The claimed batches of this process's dispatchers. The database decides; this only saves it questions. */
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
    /** These messages have left the batch, which ends with the last one; `ended`: it has ended. */
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
    /** Whether the batch was taken over. It is not there either if its last message has left it before. */
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
