import {
  INCIDENT,
  secondsAfter,
  type DispatcherId,
  type ClaimedBatchId,
  type ClaimedBatches,
  type MessageId,
  type Recorded,
  type Settled,
} from '@gateway/core'
import { atomic } from './atomic.ts'
import { claim } from './claim.ts'
import { decide, endRefunded } from './decide.ts'
import { note } from './incidents.ts'
import { rangesOf, release } from './release.ts'
import type { ClaimedBatchRow, Range } from './rows.ts'
import type { MemoryStore } from './store.ts'
import { wakeSleepers } from './wakeups.ts'

export const memoryClaimedBatches = (store: MemoryStore): ClaimedBatches => ({
  register: atomic((leaseSeconds, version) => {
    const id = store.next('dispatcher') as DispatcherId
    const now = store.clock.now()
    const leaseUntil = secondsAfter(now, leaseSeconds)
    store.dispatchers.set(id, { since: now, version, leaseUntil, batches: new Map() })
    return id
  }),
  extend: atomic((dispatcher, leaseSeconds) => {
    const row = store.dispatchers.get(dispatcher)
    if (row !== undefined) row.leaseUntil = secondsAfter(store.clock.now(), leaseSeconds)
    return row === undefined ? 'fenced' : 'alive'
  }),
  retire: atomic((dispatcher) => void end(store, dispatcher)),
  promote: atomic((rangesMax) => promote(store, rangesMax)),
  claim: atomic((dispatcher, wanted) => claim(store, store.dispatchers.get(dispatcher), wanted)),
  disown: atomic((dispatcher, known) => disown(store, dispatcher, known)),
  mark: atomic((dispatcher, batch, upTo) => mark(store, dispatcher, batch, upTo)),
  record: atomic((dispatcher, finished, outcomes, marks = []) => {
    record(store, dispatcher, finished, outcomes)
    const marked = marks.map(({ batch, upTo }) => mark(store, dispatcher, batch, upTo))
    return marked.includes('fenced') ? 'fenced' : 'recorded'
  }),
  settle: atomic((dispatcher, batch, settled) => settle(store, batchOf(store, dispatcher, batch), settled)),
  postpone: atomic((dispatcher, batch, ids, seconds) => {
    const row = batchOf(store, dispatcher, batch)
    return row === undefined ? refuseLate(store, ids) : postpone(store, row, ids, seconds)
  }),
  recover: atomic(() => recover(store)),
  expire: atomic((validitySeconds, rangesMax) => expire(store, validitySeconds, rangesMax)),
})

const batchOf = (store: MemoryStore, dispatcher: DispatcherId, batch: ClaimedBatchId): ClaimedBatchRow | undefined =>
  store.dispatchers.get(dispatcher)?.batches.get(batch)

function mark(store: MemoryStore, dispatcher: DispatcherId, batch: ClaimedBatchId, upTo: number): 'marked' | 'fenced' {
  const row = batchOf(store, dispatcher, batch)
  if (row !== undefined) row.marked = Math.max(row.marked, upTo)
  return row === undefined ? 'fenced' : 'marked'
}

function disown(store: MemoryStore, dispatcher: DispatcherId, known: readonly ClaimedBatchId[]): void {
  const batches = store.dispatchers.get(dispatcher)?.batches
  for (const [id, batch] of batches ?? []) {
    if (known.includes(id)) continue
    batch.marked = 0
    release(store, batch)
    batches?.delete(id)
  }
}

function end(store: MemoryStore, dispatcher: DispatcherId): { requeued: number; unknown: number } {
  const counts = { requeued: 0, unknown: 0 }
  for (const batch of store.dispatchers.get(dispatcher)?.batches.values() ?? []) {
    const { requeued, unknown } = release(store, batch)
    counts.requeued += requeued
    counts.unknown += unknown
  }
  store.dispatchers.delete(dispatcher)
  return counts
}

function recover(store: MemoryStore): { requeued: number; unknown: number } {
  const now = store.clock.now()
  const counts = { requeued: 0, unknown: 0 }
  for (const [id, { leaseUntil }] of store.dispatchers) {
    if (leaseUntil >= now) continue
    const { requeued, unknown } = end(store, id)
    counts.requeued += requeued
    counts.unknown += unknown
  }
  return counts
}

function promote(store: MemoryStore, rangesMax: number): number {
  const now = store.clock.now()
  const isDue = ({ at }: Range) => at <= now
  for (let moved = 0; moved < rangesMax; moved++) {
    const range = store.later.next(isDue)
    if (range === undefined) return moved
    store.due[range.send.lane].add(range)
    if (moved === 0) wakeSleepers(store)
  }
  return rangesMax
}

function record(
  store: MemoryStore,
  dispatcher: DispatcherId,
  finished: readonly ClaimedBatchId[],
  outcomes: readonly Recorded[],
): void {
  for (const { batch, message, handover } of outcomes) {
    const row = store.messages.get(message.id)
    if (row === undefined) continue
    const holder = batchOf(store, dispatcher, batch)
    if (holder?.held.delete(row.id)) {
      if (handover.outcome === 'unknown') note(store, row.id, INCIDENT.unknown)
      decide(store, row, holder.carrier, handover)
    } else if (store.unknown.has(row) && handover.outcome !== 'unknown') {
      note(store, row.id, INCIDENT.late)
      decide(store, row, row.decision?.carrier, handover)
    }
  }
  for (const batch of finished) {
    const row = batchOf(store, dispatcher, batch)
    if (row !== undefined) release(store, row)
    store.dispatchers.get(dispatcher)?.batches.delete(batch)
  }
}

function settle(
  store: MemoryStore,
  batch: ClaimedBatchRow | undefined,
  settled: readonly Settled[],
): 'settled' | 'fenced' {
  if (batch === undefined) return 'fenced'
  for (const { id, code } of settled) {
    const row = batch.held.get(id)?.row
    if (row === undefined) continue
    batch.held.delete(id)
    endRefunded(store, row, code, undefined)
  }
  return 'settled'
}

function postpone(store: MemoryStore, batch: ClaimedBatchRow, ids: readonly MessageId[], seconds: number): 'postponed' {
  const at = secondsAfter(store.clock.now(), seconds)
  const back = ids.flatMap((id) => batch.held.get(id) ?? []).filter(({ row }) => batch.held.delete(row.id))
  for (const { row } of back) note(store, row.id, INCIDENT.refusedForNow)
  for (const range of rangesOf(back)) store.later.add({ ...range, attempt: range.attempt + 1, at })
  return 'postponed'
}

function refuseLate(store: MemoryStore, ids: readonly MessageId[]): 'fenced' {
  for (const id of ids) {
    const row = store.messages.get(id)
    if (row === undefined || !store.unknown.has(row)) continue
    note(store, id, INCIDENT.late)
    decide(store, row, row.decision?.carrier, { outcome: 'refused' })
  }
  return 'fenced'
}

function expire(store: MemoryStore, validitySeconds: number, rangesMax: number): number {
  const oldest = secondsAfter(store.clock.now(), -validitySeconds)
  const isOld = ({ send }: Range) => send.due < oldest
  const ranges = [store.later, store.due.single, store.due.bulk].flatMap((waiting) => waiting.takeAll(isOld, rangesMax))
  const rows = ranges.flatMap(({ messages }) => messages)
  for (const row of rows) endRefunded(store, row, 101, undefined)
  return rows.length
}
