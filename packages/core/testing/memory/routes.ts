import {
  refusedRoutes,
  type CarrierId,
  type PublishedRoute,
  type QueueNumber,
  type Route,
  type RouteNumber,
  type Routes,
} from '@gateway/core'
import { atomic } from './atomic.ts'
import { reroute } from './reroute.ts'
import type { MemoryStore } from './store.ts'

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
  store.routes.known.set(number, { name, prefixes, accounts, senders, carriers })
  const refusers = route.carriers.length > 1 ? route.carriers.map(({ carrier }) => carrier) : []
  const queues = [
    { number, refusedBy: undefined },
    ...refusers.map((refusedBy) => ({ number: queueOf(store, number, refusedBy), refusedBy })),
  ]
  return { ...route, number, queues }
}

function queueOf(store: MemoryStore, route: RouteNumber, refusedBy: CarrierId): QueueNumber {
  const key = `${route} ${refusedBy}`
  const queue = store.routes.queues.get(key) ?? (store.next('queue') as QueueNumber)
  store.routes.queues.set(key, queue)
  return queue
}
