import type { DispatcherId, ClaimedBatchId } from '@gateway/core'

/** What this process knows of a batch that it claimed. */
export interface KnownBatch {
  /** The carrier's number. */
  readonly carrier: number
  /** The ids that were not recorded, settled or postponed yet. */
  readonly ids: Set<number>
}

/** The claimed batches of this process's dispatchers. The database decides; this only saves it questions. */
export interface KnownBatches {
  add(dispatcher: DispatcherId, batch: ClaimedBatchId, known: KnownBatch): void
  get(dispatcher: DispatcherId, batch: ClaimedBatchId): KnownBatch | undefined
  drop(dispatcher: DispatcherId, batch: ClaimedBatchId): void
  dropAll(dispatcher: DispatcherId): void
}

export function createKnownBatches(): KnownBatches {
  const dispatchers = new Map<DispatcherId, Map<ClaimedBatchId, KnownBatch>>()
  return {
    add: (dispatcher, batch, known) => {
      const batches = dispatchers.get(dispatcher) ?? new Map<ClaimedBatchId, KnownBatch>()
      dispatchers.set(dispatcher, batches.set(batch, known))
    },
    get: (dispatcher, batch) => dispatchers.get(dispatcher)?.get(batch),
    drop: (dispatcher, batch) => void dispatchers.get(dispatcher)?.delete(batch),
    dropAll: (dispatcher) => void dispatchers.delete(dispatcher),
  }
}
