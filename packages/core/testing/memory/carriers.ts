import type { CarrierId } from '@gateway/core/dispatch'
import {
  renewedShare,
  type CarrierBinds,
  type CarrierConflict,
  type CarrierRates,
  type CarrierVersions,
} from '@gateway/core/fleet'
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

const extended = <Lease extends { readonly until: number }>(lease: Lease, until: number): Lease => ({
  ...lease,
  until: Math.max(lease.until, until),
})

export const memoryCarrierRates = (store: MemoryStore): CarrierRates => ({
  renew: atomic((carrier, holder, { seconds, wasAway = false, ...demand }) => {
    const now = store.clock.now()
    const all = [...(store.carrierRates.get(carrier) ?? [])]
    const counted = wasAway ? all.map(([other, lease]) => [other, extended(lease, now + seconds * 1000)] as const) : all
    const leases = new Map(counted.filter(([, { until }]) => until > now))
    const holders = [...new Set([...leases.keys(), holder])].sort()
    const { granted, share } = renewedShare(
      demand,
      holders.map((other) => (other === holder ? undefined : leases.get(other))),
    )
    leases.set(holder, { share, need: demand.need, until: now + seconds * 1000 })
    store.carrierRates.set(carrier, leases)
    return granted
  }),
})

export const memoryCarrierBinds = (store: MemoryStore): CarrierBinds => {
  const live = (carrier: CarrierId) =>
    [...(store.carrierBinds.get(carrier) ?? [])].filter(([, { until }]) => until > store.clock.now())
  const keep = (carrier: CarrierId, entries: readonly Readonly<ReturnType<typeof live>[number]>[]): void => {
    store.carrierBinds.set(carrier, new Map(entries))
  }
  const until = (seconds: number): number => store.clock.now() + seconds * 1000

  return {
    lease: atomic((carrier, holder, { count, max, seconds }) => {
      const leases = live(carrier)
      const free = Array.from({ length: max }, (_, at) => at + 1).filter((n) =>
        leases.every(([leased]) => leased !== n),
      )
      const numbers = free.slice(0, Math.max(0, Math.min(count, max - leases.length)))
      keep(carrier, [...leases, ...numbers.map((n) => [n, { holder, until: until(seconds) }] as const)])
      const ends = leases.filter(([, bind]) => bind.holder !== holder).map(([, bind]) => bind.until - store.clock.now())
      const isShort = numbers.length < count && ends.length > 0
      return { numbers, freeInMilliseconds: isShort ? Math.min(...ends) : undefined }
    }),
    renew: atomic((carrier, holder, seconds) => {
      const renewed = live(carrier).map(([n, bind]) =>
        bind.holder === holder ? ([n, { holder, until: until(seconds) }] as const) : ([n, bind] as const),
      )
      keep(carrier, renewed)
      return renewed.flatMap(([n, bind]) => (bind.holder === holder ? [n] : []))
    }),
    release: atomic((carrier, holder, numbers) => {
      keep(
        carrier,
        live(carrier).filter(([n, bind]) => bind.holder !== holder || !numbers.includes(n)),
      )
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
