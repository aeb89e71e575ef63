import type {
  ClaimedBatches,
  ClaimedBatchId,
  DispatcherId,
  Recorded,
  CarrierId,
  ClaimedMessage,
  Repeatable,
} from '@gateway/core/dispatch'
import { INCIDENT, isExpired, OUTCOME, type MessageId } from '@gateway/core/messages'
import { erasedNumber } from '@gateway/core/personal-data'
import { secondsAfter, type Instant } from '@gateway/core/time'
import { isLateTruth, isOverdue, isUnresolved } from '../contracts/specification/outcomes.ts'
import { atomic } from './atomic.ts'
import { claim, claimed } from './claim.ts'
import { decide, endRefunded } from './decide.ts'
import { note } from './incidents.ts'
import { proveSubmitted } from './promotions.ts'
import { end, rangesOf, release } from './release.ts'
import type { ClaimedBatchRow, ClaimedRow, Range } from './rows.ts'
import type { MemoryStore } from './store.ts'
import { memorySleeper, wakeSleepers } from './wakeups.ts'

export const memoryClaimedBatches = (store: MemoryStore): ClaimedBatches => ({
  sleeper: memorySleeper(store),
  register: atomic((leaseSeconds, version, place) => {
    const id = store.next('dispatcher') as DispatcherId
    const now = store.clock.now()
    const leaseUntil = secondsAfter(now, leaseSeconds)
    store.dispatchers.set(id, { since: now, version, place, leaseUntil, batches: new Map() })
    return id
  }),
  extend: atomic((dispatcher, leaseSeconds) => {
    const row = store.dispatchers.get(dispatcher)
    if (row !== undefined) row.leaseUntil = secondsAfter(store.clock.now(), leaseSeconds)
    return row === undefined ? 'fenced' : 'alive'
  }),
  retire: atomic((dispatcher) => void end(store, dispatcher)),
  promote: atomic((rangesMax) => promote(store, rangesMax)),
  claim: atomic((dispatcher, request) => {
    store.carriersOfDispatchers.set(dispatcher, request.carrier)
    return claim(store, store.dispatchers.get(dispatcher), request)
  }),
  disown: atomic((dispatcher, known) => disown(store, dispatcher, known)),
  mark: atomic((dispatcher, batch, upTo) => mark(store, dispatcher, batch, upTo)),
  record: atomic((dispatcher, outcomes, marks = []) => {
    record(store, dispatcher, outcomes)
    const marked = marks.map(({ batch, upTo }) => mark(store, dispatcher, batch, upTo))
    return marked.includes('fenced') ? 'fenced' : 'recorded'
  }),
  takeRepeatable: atomic((carrier, selection) => takeRepeatable(store, carrier, selection)),
  settle: atomic((dispatcher, batch, settled) => {
    const batchRow = batchOf(store, dispatcher, batch)
    if (batchRow === undefined) return 'fenced'
    for (const { id, code } of settled) {
      for (const { row } of takeOut(batchRow, [id])) endRefunded(store, row, code, undefined)
    }
    return 'settled'
  }),
  postpone: atomic((dispatcher, batch, ids, seconds, queue) => {
    const batchRow = batchOf(store, dispatcher, batch)
    if (batchRow === undefined) return 'fenced'
    const at = secondsAfter(store.clock.now(), seconds)
    const back = takeOut(batchRow, ids)
    for (const { row } of back) note(store, row.id, INCIDENT.refusedForNow, batchRow.carrier)
    for (const range of rangesOf(back, queue ?? batchRow.queue)) {
      store.later.add({ ...range, attempt: range.attempt + 1, at })
    }
    return 'postponed'
  }),
  giveBack: atomic((dispatcher, batch, ids) => {
    const row = batchOf(store, dispatcher, batch)
    if (row === undefined) return 'fenced'
    for (const range of rangesOf(takeOut(row, ids), row.queue)) store.due.add(range)
    wakeSleepers(store)
    return 'given-back'
  }),
  queuesWithWork: atomic((lane, queues) => queues.filter((queue) => !store.due.of(queue, lane).isEmpty())),
  recover: atomic(() => recover(store)),
  expire: atomic((validitySeconds, rangesMax) => expire(store, validitySeconds, rangesMax)),
})

const batchOf = (store: MemoryStore, dispatcher: DispatcherId, batch: ClaimedBatchId): ClaimedBatchRow | undefined =>
  store.dispatchers.get(dispatcher)?.batches.get(batch)

/** Removes these messages from the batch. */
const takeOut = (batch: ClaimedBatchRow | undefined, ids: readonly MessageId[]): readonly ClaimedRow[] =>
  ids.flatMap((id) => {
    const one = batch?.messages.get(id)
    batch?.messages.delete(id)
    return one ?? []
  })

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

function recover(store: MemoryStore): { requeued: number; unknown: number } {
  const now = store.clock.now()
  const counts = { requeued: 0, unknown: 0 }
  for (const [id, { leaseUntil }] of store.dispatchers) {
    if (!isOverdue(leaseUntil, now)) continue
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
    store.due.add(range)
    if (moved === 0) wakeSleepers(store)
  }
  return rangesMax
}

function record(store: MemoryStore, dispatcher: DispatcherId, outcomes: readonly Recorded[]): void {
  for (const { batch, message, handover } of outcomes) {
    const batchRow = batchOf(store, dispatcher, batch)
    const [claimed] = takeOut(batchRow, [message.id])
    const row = store.messages.get(message.id)
    if (claimed === undefined && row !== undefined)
      proveSubmitted(store, row, store.carriersOfDispatchers.get(dispatcher))
    if (claimed !== undefined) {
      if (handover.outcome === 'unknown') note(store, message.id, INCIDENT.unknown)
      decide(store, claimed.row, batchRow?.carrier, handover)
    } else if (row?.decision !== undefined && isLateTruth(row.decision, handover.outcome)) {
      note(store, message.id, INCIDENT.late)
      decide(store, row, row.decision.carrier, handover)
    }
  }
}

function takeRepeatable(
  store: MemoryStore,
  carrier: CarrierId,
  { withinSeconds, afterSeconds, countMax }: Repeatable,
): readonly ClaimedMessage[] {
  const now = store.clock.now()
  const due = [...store.messages.values()].filter(({ id, number, send, decision }) => {
    const isOpen = decision?.carrier === carrier && isUnresolved(decision) && number !== erasedNumber
    if (!isOpen || send.due <= secondsAfter(now, -withinSeconds)) return false
    const [unknownAt, repeatedAt] = [lastOf(store, id, unknownBy), lastOf(store, id, [INCIDENT.repeated])]
    if (unknownAt === undefined || unknownAt > secondsAfter(now, -afterSeconds)) return false
    return repeatedAt === undefined || now - repeatedAt >= Math.max(afterSeconds * 1000, repeatedAt - unknownAt)
  })
  const chosen = due.sort((a, b) => a.send.due - b.send.due || a.id - b.id).slice(0, countMax)
  return chosen.map((row) => {
    note(store, row.id, INCIDENT.repeated, carrier)
    return claimed(store, { row, attempt: 1, position: 1 }, carrier)
  })
}

const unknownBy: readonly string[] = [INCIDENT.recovered, INCIDENT.unknown]

/** Returns the time of the last of these incidents of a message. */
const lastOf = (store: MemoryStore, id: MessageId, incidents: readonly string[]): Instant | undefined =>
  store.incidents.get(id)?.findLast((incident) => incidents.includes(incident.name))?.at

function expire(store: MemoryStore, validitySeconds: number, rangesMax: number): number {
  const now = store.clock.now()
  const isOld = ({ send }: Range) => isExpired(send, now, validitySeconds)
  const ranges = [store.later, ...store.due.all()].flatMap((waiting) => waiting.takeAll(isOld, rangesMax))
  const rows = ranges.flatMap(({ messages }) => messages)
  for (const row of rows) endRefunded(store, row, OUTCOME.expired, undefined)
  return rows.length
}
