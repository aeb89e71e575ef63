import {
  INCIDENT,
  secondsAfter,
  type DispatcherId,
  type FlightId,
  type Flights,
  type MessageId,
  type Recorded,
  type Settled,
} from '@gateway/core'
import { atomic } from './atomic.ts'
import { claim } from './claim.ts'
import { decide, endRefunded } from './decide.ts'
import { note } from './incidents.ts'
import { rangesOf, release } from './release.ts'
import type { FlightRow, Range } from './rows.ts'
import type { MemoryStore } from './store.ts'

export const memoryFlights = (store: MemoryStore): Flights => ({
  register: atomic((leaseSeconds, version) => {
    const id = store.next('dispatcher') as DispatcherId
    const now = store.clock.now()
    const leaseUntil = secondsAfter(now, leaseSeconds)
    store.dispatchers.set(id, { since: now, version, leaseUntil, flights: new Map() })
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
  mark: atomic((dispatcher, flight, upTo) => mark(store, dispatcher, flight, upTo)),
  record: atomic((dispatcher, finished, outcomes, marks = []) => {
    record(store, dispatcher, finished, outcomes)
    const marked = marks.map(({ flight, upTo }) => mark(store, dispatcher, flight, upTo))
    return marked.includes('fenced') ? 'fenced' : 'recorded'
  }),
  settle: atomic((dispatcher, flight, settled) => settle(store, flightOf(store, dispatcher, flight), settled)),
  postpone: atomic((dispatcher, flight, ids, seconds) => {
    const row = flightOf(store, dispatcher, flight)
    return row === undefined ? refuseLate(store, ids) : postpone(store, row, ids, seconds)
  }),
  recover: atomic(() => recover(store)),
  expire: atomic((validitySeconds, rangesMax) => expire(store, validitySeconds, rangesMax)),
})

const flightOf = (store: MemoryStore, dispatcher: DispatcherId, flight: FlightId): FlightRow | undefined =>
  store.dispatchers.get(dispatcher)?.flights.get(flight)

function mark(store: MemoryStore, dispatcher: DispatcherId, flight: FlightId, upTo: number): 'marked' | 'fenced' {
  const row = flightOf(store, dispatcher, flight)
  if (row !== undefined) row.marked = Math.max(row.marked, upTo)
  return row === undefined ? 'fenced' : 'marked'
}

function end(store: MemoryStore, dispatcher: DispatcherId): { requeued: number; unknown: number } {
  const counts = { requeued: 0, unknown: 0 }
  for (const flight of store.dispatchers.get(dispatcher)?.flights.values() ?? []) {
    const { requeued, unknown } = release(store, flight)
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
  }
  return rangesMax
}

function record(
  store: MemoryStore,
  dispatcher: DispatcherId,
  finished: readonly FlightId[],
  outcomes: readonly Recorded[],
): void {
  for (const { flight, message, handover } of outcomes) {
    const row = store.messages.get(message.id)
    if (row === undefined) continue
    const holder = flightOf(store, dispatcher, flight)
    if (holder?.held.delete(row.id)) {
      if (handover.outcome === 'unknown') note(store, row.id, INCIDENT.unknown)
      decide(store, row, holder.carrier, handover)
    } else if (store.unknown.has(row) && handover.outcome !== 'unknown') {
      note(store, row.id, INCIDENT.late)
      decide(store, row, row.decision?.carrier, handover)
    }
  }
  for (const flight of finished) {
    const row = flightOf(store, dispatcher, flight)
    if (row !== undefined) release(store, row)
    store.dispatchers.get(dispatcher)?.flights.delete(flight)
  }
}

function settle(store: MemoryStore, flight: FlightRow | undefined, settled: readonly Settled[]): 'settled' | 'fenced' {
  if (flight === undefined) return 'fenced'
  for (const { id, code } of settled) {
    const row = flight.held.get(id)?.row
    if (row === undefined) continue
    flight.held.delete(id)
    endRefunded(store, row, code, undefined)
  }
  return 'settled'
}

function postpone(store: MemoryStore, flight: FlightRow, ids: readonly MessageId[], seconds: number): 'postponed' {
  const at = secondsAfter(store.clock.now(), seconds)
  const back = ids.flatMap((id) => flight.held.get(id) ?? []).filter(({ row }) => flight.held.delete(row.id))
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
