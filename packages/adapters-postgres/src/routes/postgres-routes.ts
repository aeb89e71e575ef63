import {
  queuesOf,
  refusedRoutes,
  routeNumberOf,
  type PublishedRoute,
  type QueueNumber,
  storedOverflow,
  type Route,
  type RouteQueue,
  type Routes,
} from '@gateway/core/routes'
import { sql, type Insertable, type Kysely, type Selectable, type Transaction } from 'kysely'
import { createCache } from '../cache.ts'
import { notifyOthers } from '../changes.ts'
import type { Connections } from '../connections.ts'
import type { Context } from '../context.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { arrayOf, elementAt, numbersFromArray } from '../sql/arrays.ts'
import { findStranded, moveRanges } from '../sql/due.ts'
import type { RowOf } from '../sql/statement.ts'
import type { Tables } from '../tables.ts'

export function postgresRoutes({ pools: { kysely, hot }, settings, changes }: Context): Routes {
  const load = () => {
    changes.listen()
    return readRoutes(kysely)
  }
  const cache = createCache({ seconds: settings.cacheSeconds, entriesMax: 1, load })
  changes.onChange(() => cache.clear())

  const publish = (routes: readonly Route[]): Promise<void> =>
    kysely.transaction().execute((transaction) => publishRoutes(transaction, routes))
  return {
    list: () => cache.get('all'),
    publish: (routes) => changes.around(publish(routes)),
    reroute: (rangesMax) => reroute(hot, () => readRoutes(kysely), rangesMax),
  }
}

/** Publishes routes in this transaction, as `Routes.publish` does. The commit notifies other processes. */
export async function publishRoutes(transaction: Transaction<Tables>, routes: readonly Route[]): Promise<void> {
  const refused = refusedRoutes(routes)
  if (refused !== undefined) throw new RangeError(refused)
  await sql`select pg_advisory_xact_lock('route'::regclass::oid::bigint)`.execute(transaction)
  await transaction.updateTable('route').set({ position: null }).where('position', 'is not', null).execute()
  for (const [position, route] of routes.entries()) await store(transaction, route, position)
  await transaction.selectNoFrom(notifyOthers.as('notified')).execute()
}

async function readRoutes(kysely: Kysely<Tables>): Promise<readonly PublishedRoute[]> {
  const rows = await kysely
    .selectFrom('route')
    .selectAll()
    .select([
      sql<readonly QueueNumber[]>`array(select id from queue where queue.route = route.id order by id)`.as('queues'),
      sql<string[]>`array(select refused_by from queue where queue.route = route.id order by id)`.as('refusers'),
      sql<string[]>`array(select only_for from queue where queue.route = route.id order by id)`.as('awaited'),
    ])
    .where('position', 'is not', null)
    .orderBy('position')
    .execute()
  return rows.map(routeOf)
}

/** Stores a route. A route with a known name keeps its number, and no number is used up if nothing is new. */
async function store(transaction: Transaction<Tables>, route: Route, position: number): Promise<void> {
  const row = { ...rowOf(route), position }
  const [known] = await transaction.updateTable('route').set(row).where('name', '=', row.name).returning('id').execute()
  const { id } = known ?? (await transaction.insertInto('route').values(row).returning('id').executeTakeFirstOrThrow())
  const queues = await transaction.selectFrom('queue').selectAll().where('route', '=', id).execute()
  const rows = queuesOf(row.carriers).map(({ refusedBy, onlyFor }, i) => {
    const queue: Insertable<Tables['queue']> = { route: id, refused_by: refusedBy ?? '', only_for: onlyFor ?? '' }
    return i === 0 ? { ...queue, id } : queue
  })
  const isMissing = ({ refused_by, only_for }: Insertable<Tables['queue']>) =>
    !queues.some((queue) => queue.refused_by === refused_by && queue.only_for === only_for)
  const added = rows.filter(isMissing)
  if (added.length > 0) await transaction.insertInto('queue').values(added).execute()
}

/** Route with all queues that it ever had, by number. */
interface RouteRow extends Selectable<Tables['route']> {
  readonly queues: readonly QueueNumber[]
  /** For each queue, the carrier that refused its messages; '' if there is none. */
  readonly refusers: readonly string[]
  /** For each queue, the carrier for which its messages wait; '' if any carrier may send them. */
  readonly awaited: readonly string[]
}

const routeOf = ({ id, queues, refusers, awaited, priorities, weights, ...row }: RouteRow): PublishedRoute => ({
  number: id,
  name: row.name,
  prefixes: row.prefixes,
  accounts: row.accounts,
  senders: row.senders,
  ...(row.overflow !== null && { overflow: row.overflow }),
  carriers: row.carriers.map((carrier, i) => ({
    carrier,
    priority: priorities[i] ?? NaN,
    weight: weights[i] ?? NaN,
  })),
  queues: queuesOf(row.carriers).map((queue): RouteQueue => {
    const { refusedBy = '', onlyFor = '' } = queue
    const at = queues.findIndex((_, i) => refusers[i] === refusedBy && awaited[i] === onlyFor)
    return { ...queue, number: elementAt(queues, at) }
  }),
})

const rowOf = ({ name, prefixes, accounts, senders, carriers, ...route }: Route) => ({
  name,
  prefixes: [...prefixes],
  accounts: [...accounts],
  senders: [...senders],
  carriers: carriers.map(({ carrier }) => carrier),
  priorities: carriers.map(({ priority }) => priority),
  weights: carriers.map(({ weight }) => weight),
  overflow: overflowText(route),
})

function overflowText(route: Pick<Route, 'overflow'>): string | null {
  const { overflow } = storedOverflow(route)
  return overflow === undefined ? null : JSON.stringify(overflow)
}

interface MovedPart {
  readonly queue: number
  readonly lo: number
  hi: number
}

/**
 * Moves stranded ranges to the queues of the routes that `read` returns. Ranges that change meanwhile are moved by the
 * next call.
 */
async function reroute(
  hot: Connections,
  read: () => Promise<readonly PublishedRoute[]>,
  rangesMax: number,
): Promise<number> {
  const found = await retryOnConnectionLoss(hot, findStranded, { rangesMax })
  if (found.length === 0) return 0
  const routes = await read()
  const parts = found.map((row) => partsOf(row, routes))
  const [row] = await retryOnConnectionLoss(hot, moveRanges, {
    queues: found.map(({ queue }) => queue),
    lanes: found.map(({ lane }) => lane),
    accounts: found.map(({ account }) => account),
    ranks: found.map(({ rank }) => rank),
    lo: found.map(({ lo }) => lo),
    hi: found.map(({ hi }) => hi),
    partQueues: parts.map((ofRange) => arrayOf(ofRange.map(({ queue }) => queue))),
    partLo: parts.map((ofRange) => arrayOf(ofRange.map(({ lo }) => lo))),
    partHi: parts.map((ofRange) => arrayOf(ofRange.map(({ hi }) => hi))),
  })
  return row?.moved ?? 0
}

/** Divides a range into parts by route. Neighbouring messages of one route stay in one part. */
function partsOf(
  { account, lo, from, numbers }: RowOf<typeof findStranded>,
  routes: readonly PublishedRoute[],
): readonly MovedPart[] {
  const common = { account, from: from ?? undefined }
  const parts: MovedPart[] = []
  for (const [i, number] of numbersFromArray(numbers).entries()) {
    const queue = routeNumberOf(routes, { ...common, to: number })
    const last = parts.at(-1)
    if (last?.queue === queue) last.hi = lo + i + 1
    else parts.push({ queue, lo: lo + i, hi: lo + i + 1 })
  }
  return parts
}
