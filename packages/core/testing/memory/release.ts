import type { DispatcherId } from '@gateway/core/dispatch'
import { INCIDENT } from '@gateway/core/messages'
import type { QueueNumber } from '@gateway/core/routes'
import { decide } from './decide.ts'
import { note } from './incidents.ts'
import type { ClaimedBatchRow, ClaimedRow, Range } from './rows.ts'
import type { MemoryStore } from './store.ts'
import { wakeSleepers } from './wakeups.ts'

/**
 * Empties a claimed batch: messages that may have been submitted become unknown (106), all others go back to the queue.
 */
export function release(store: MemoryStore, batch: ClaimedBatchRow): { requeued: number; unknown: number } {
  const rows = [...batch.messages.values()]
  batch.messages.clear()
  const inDoubt = rows.filter((one) => mayHaveLeft(one, batch))
  const unsent = rows.filter((one) => !mayHaveLeft(one, batch))
  for (const { row } of inDoubt) {
    note(store, row.id, INCIDENT.recovered)
    decide(store, row, batch.carrier, { outcome: 'unknown' })
  }
  for (const range of rangesOf(unsent, batch.queue)) store.due.add(range)
  if (unsent.length > 0) wakeSleepers(store)
  return { requeued: unsent.length, unknown: inDoubt.length }
}

/** Returns true if a message of the batch may have been submitted. */
export const mayHaveLeft = ({ position }: ClaimedRow, { marked }: ClaimedBatchRow): boolean => position <= marked

/** Groups messages of a claimed batch that can move together again: neighbours in one send with equal attempts. */
export function rangesOf(rows: readonly ClaimedRow[], queue: QueueNumber): readonly Range[] {
  const ranges: (Range & { messages: Range['messages'][number][] })[] = []
  for (const { row, attempt } of rows.toSorted((a, b) => a.row.id - b.row.id)) {
    const last = ranges.at(-1)
    const follows = last?.send === row.send && last.attempt === attempt && last.messages.at(-1)?.id === row.id - 1
    if (follows) last.messages.push(row)
    else ranges.push({ send: row.send, queue, messages: [row], attempt, at: row.send.due })
  }
  return ranges
}

/** Ends a dispatcher and all its claimed batches. */
export function end(store: MemoryStore, dispatcher: DispatcherId): { requeued: number; unknown: number } {
  const counts = { requeued: 0, unknown: 0 }
  for (const batch of store.dispatchers.get(dispatcher)?.batches.values() ?? []) {
    const { requeued, unknown } = release(store, batch)
    counts.requeued += requeued
    counts.unknown += unknown
  }
  store.dispatchers.delete(dispatcher)
  return counts
}
