import type { CarrierConflict, CarrierVersions } from '@gateway/core/fleet'
import {
  queuesOf,
  refusedRoutes,
  routeNumberOf,
  type PublishedRoute,
  type QueueNumber,
  storedOverflow,
  type Route,
  type RouteNumber,
  type Routes,
} from '@gateway/core/routes'
import { atomic } from './atomic.ts'
import { registerUser, usersOf } from './fleet.ts'
import type { MessageRow, Range } from './rows.ts'
import type { MemoryStore } from './store.ts'
import { wakeSleepers } from './wakeups.ts'

export function memoryCarrierVersions(store: MemoryStore): CarrierVersions {
  const { carrierVersions: versions, carrierListeners } = store
  const latestNumber = (): number => versions.at(-1)?.version ?? 0

  return {
    latest: atomic(() => versions.at(-1)),
    find: atomic((version) => versions.find((one) => one.version === version)),
    list: atomic((countMax) => versions.toReversed().slice(0, countMax)),
    store: atomic(({ routes, ...next }, after, { onPurpose }): number | 'outdated' | CarrierConflict => {
      if (latestNumber() !== after) return 'outdated'
      const user = onPurpose ? undefined : usersOf(store).find(({ simulated }) => simulated !== undefined)
      if (user !== undefined) return { user }
      publishRoutes(store, routes)
      versions.push({ ...next, version: after + 1, storedAt: store.clock.now() })
      for (const changed of carrierListeners) changed()
      return after + 1
    }),
    join: atomic((user, seconds): 'joined' | 'outdated' | CarrierConflict => {
      if (latestNumber() !== user.version) return 'outdated'
      const other = usersOf(store).find(({ simulated }) => simulated !== undefined && simulated !== user.simulated)
      if (other !== undefined && user.simulated !== undefined) return { user: other }
      registerUser(store, user, seconds)
      return 'joined'
    }),
    reseal: atomic((sealAgain) => {
      let changed = 0
      for (const [at, version] of versions.entries()) {
        const sealed = sealAgain(version)
        if (sealed === undefined || sealed === version.sealed) continue
        versions[at] = { ...version, sealed }
        changed++
      }
      return changed
    }),
  }
}

export const memoryRoutes = (store: MemoryStore): Routes => ({
  reroute: atomic((rangesMax) => reroute(store, rangesMax)),
  list: atomic(() => store.routes.published),
  publish: atomic((routes) => publishRoutes(store, routes)),
})

export function publishRoutes(store: MemoryStore, routes: readonly Route[]): void {
  const refused = refusedRoutes(routes)
  if (refused !== undefined) throw new RangeError(refused)
  store.routes.published = routes.map((route) => numbered(store, route))
}

function numbered(store: MemoryStore, route: Route): PublishedRoute {
  const { numbers } = store.routes
  const number = numbers.get(route.name) ?? (store.next('queue') as RouteNumber)
  numbers.set(route.name, number)
  const { name, prefixes, accounts, senders, carriers } = route
  store.routes.known.set(number, { name, prefixes, accounts, senders, carriers, ...storedOverflow(route) })
  const [plain, ...others] = queuesOf(route.carriers.map(({ carrier }) => carrier))
  const queues = others.map((queue) => ({ ...queue, number: queueOf(store, number, queue) }))
  return { ...route, number, queues: [{ refusedBy: plain?.refusedBy, number }, ...queues] }
}

function queueOf(
  store: MemoryStore,
  route: RouteNumber,
  { refusedBy = '', onlyFor = '' }: { readonly refusedBy: string | undefined; readonly onlyFor?: string },
): QueueNumber {
  const key = `${route} ${refusedBy} ${onlyFor}`
  const queue = store.routes.queues.get(key) ?? (store.next('queue') as QueueNumber)
  store.routes.queues.set(key, queue)
  return queue
}

/** Moves due ranges from queues that no carrier claims any more; returns how many ranges. */
export function reroute(store: MemoryStore, rangesMax: number): number {
  const { published } = store.routes
  const claimed = published.flatMap(({ queues }) => queues.map(({ number }) => number))
  const isStranded = ({ queue }: Range) => (published.length === 0 ? queue !== 0 : !claimed.includes(queue))
  let moved = 0
  for (const waiting of store.due.all()) {
    for (const range of waiting.takeAll(isStranded, rangesMax - moved)) {
      for (const part of partsOf(store, range)) store.due.add(part)
      moved++
    }
  }
  if (moved > 0) wakeSleepers(store)
  return moved
}

function partsOf(store: MemoryStore, range: Range): readonly Range[] {
  const parts: { queue: QueueNumber; messages: MessageRow[] }[] = []
  for (const row of range.messages) {
    const { account } = range.send
    const queue = routeNumberOf(store.routes.published, { account, from: row.from, to: row.number })
    const last = parts.at(-1)
    if (last?.queue === queue) last.messages.push(row)
    else parts.push({ queue, messages: [row] })
  }
  return parts.map((part) => ({ ...range, ...part }))
}
