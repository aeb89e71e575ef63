import type { AccountId } from '@gateway/core/accounts'
import type { Lane } from '@gateway/core/dispatch'
import type { Overview, RunningDispatcher, UnknownOutcomes, WaitingRoute, WaitingWork } from '@gateway/core/fleet'
import { INCIDENT, type Incident } from '@gateway/core/messages'
import { secondsAfter, type Instant } from '@gateway/core/time'
import { isOverdue, isUnresolved } from '../contracts/specification/outcomes.ts'
import { atomic } from './atomic.ts'
import { mayHaveLeft } from './release.ts'
import type { ClaimedBatchRow, Range } from './rows.ts'
import type { MemoryStore } from './store.ts'

export const memoryOverview = (store: MemoryStore): Overview => ({
  dispatchers: atomic(() =>
    [...store.dispatchers].map(([id, { since, version, place, leaseUntil, batches }]): RunningDispatcher => {
      const overdue = isOverdue(leaseUntil, store.clock.now())
      return { id, since, version, place, leaseUntil, overdue, loads: loadsOf([...batches.values()]) }
    }),
  ),
  queue: () => queue(store),
  routes: atomic(() => routesOf(store)),
  unknownOutcomes: atomic((seconds) => unknownOutcomes(store, seconds)),
})

function unknownOutcomes(store: MemoryStore, seconds: number): readonly UnknownOutcomes[] {
  const since = secondsAfter(store.clock.now(), -seconds)
  const isDoubt = ({ name, at }: Incident): boolean =>
    (name === INCIDENT.recovered || name === INCIDENT.unknown) && at > since
  const decisions = [...store.incidents].flatMap(([id, incidents]) =>
    incidents.some(isDoubt) ? (store.messages.get(id)?.decision ?? []) : [],
  )
  const carriers = [...new Set(decisions.flatMap(({ carrier }) => carrier ?? []))].sort()
  return carriers.map((carrier) => {
    const ofCarrier = decisions.filter((one) => one.carrier === carrier)
    const unresolved = ofCarrier.filter(isUnresolved).length
    return { carrier, resolved: ofCarrier.length - unresolved, unresolved }
  })
}

function loadsOf(batches: readonly ClaimedBatchRow[]): RunningDispatcher['loads'] {
  const holding = batches.filter(({ messages }) => messages.size > 0)
  const carriers = [...new Set(holding.map(({ carrier }) => carrier))].sort()
  return carriers.map((carrier) => {
    const of = holding.filter((batch) => batch.carrier === carrier)
    return {
      carrier,
      batches: of.length,
      messages: sum(of.map(({ messages }) => messages.size)),
      inDoubt: sum(of.map((batch) => [...batch.messages.values()].filter((one) => mayHaveLeft(one, batch)).length)),
    }
  })
}

// oxlint-disable-next-line typescript/require-await -- the port returns an async iterable
async function* queue(store: MemoryStore): AsyncIterable<WaitingWork> {
  for (const account of store.accounts.keys()) {
    for (const lane of ['single', 'bulk'] as const) {
      const work = workOf(store, account, lane)
      if (work.due + work.scheduled + work.postponed > 0) yield work
    }
  }
}

/**
 * Returns the backlog of each route. A route has one queue, and one more for each carrier that refused messages. The
 * numbers of all these queues come from one series.
 */
function routesOf(store: MemoryStore): readonly WaitingRoute[] {
  const names = new Map<number, string>()
  for (const { name, number, queues } of store.routes.published) {
    for (const queue of [number, ...queues.map((one) => one.number)]) names.set(queue, name)
  }
  const found = new Map<string | undefined, Omit<WaitingRoute, 'route'>>()
  for (const queue of store.due.numbers()) {
    for (const lane of ['single', 'bulk'] as const) {
      for (const account of store.accounts.keys()) {
        for (const { send, messages } of store.due.of(queue, lane).allOf(account)) {
          const before = found.get(names.get(queue)) ?? { due: 0, single: 0, oldestDue: send.due, oldestOfLane: {} }
          const oldestDue = earlier(send.due, before.oldestDue)
          const oldestOfLane = { ...before.oldestOfLane, [lane]: earlier(send.due, before.oldestOfLane[lane]) }
          const single = before.single + (lane === 'single' ? messages.length : 0)
          found.set(names.get(queue), { due: before.due + messages.length, single, oldestDue, oldestOfLane })
        }
      }
    }
  }
  const order = ({ route = '' }: WaitingRoute): string => route
  return [...found].map(([route, work]) => ({ route, ...work })).sort((a, b) => (order(a) < order(b) ? -1 : 1))
}

const earlier = (one: Instant, other: Instant = one): Instant => (one < other ? one : other)

function workOf(store: MemoryStore, account: AccountId, lane: Lane): WaitingWork {
  const due = store.due.all(lane).flatMap((queue) => queue.allOf(account))
  const later = store.later.allOf(account).filter(({ send }) => send.lane === lane)
  const dues = due.map(({ send }) => send.due)
  return {
    account,
    lane,
    due: count(due),
    oldestDue: dues.length === 0 ? undefined : dues.reduce((a, b) => (a < b ? a : b)),
    scheduled: count(later.filter(({ attempt }) => attempt === 0)),
    postponed: count(later.filter(({ attempt }) => attempt > 0)),
  }
}

const count = (ranges: readonly Range[]): number => sum(ranges.map(({ messages }) => messages.length))
const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0)
