import { refusedRoutes, type PublishedRoute, type Route, type Routes } from '@gateway/core'
import { sql, type Insertable, type Kysely, type Transaction } from 'kysely'
import { createCache } from '../cache.ts'
import { notifyOthers } from '../changes.ts'
import type { Context } from '../context.ts'
import type { Tables } from '../tables.ts'
import { reroute } from './reroute.ts'
import { routeOf, rowOf } from './route-row.ts'

export function postgresRoutes({ pools: { kysely, hot }, settings, changes }: Context): Routes {
  const load = () => {
    changes.listen()
    return readRoutes(kysely)
  }
  const cache = createCache({ seconds: settings.cacheSeconds, entriesMax: 1, load, keep: () => true })
  changes.onChange(() => cache.clear())

  const publish = (routes: readonly Route[]): Promise<void> =>
    kysely.transaction().execute((transaction) => publishRoutes(transaction, routes))
  return {
    list: () => cache.get('all'),
    publish: (routes) => changes.around(publish(routes)),
    reroute: (rangesMax) => reroute(hot, () => readRoutes(kysely), rangesMax),
  }
}

/** As `Routes.publish`, as a part of this transaction, which tells the others when it commits. */
export async function publishRoutes(transaction: Transaction<Tables>, routes: readonly Route[]): Promise<void> {
  const refused = refusedRoutes(routes)
  if (refused !== undefined) throw new RangeError(refused)
  await sql`select pg_advisory_xact_lock('route'::regclass::oid::bigint)`.execute(transaction)
  await transaction.updateTable('route').set({ position: null }).where('position', 'is not', null).execute()
  for (const [position, route] of routes.entries()) await store(transaction, route, position)
  await transaction.selectNoFrom(notifyOthers.as('told')).execute()
}

async function readRoutes(kysely: Kysely<Tables>): Promise<readonly PublishedRoute[]> {
  const rows = await kysely
    .selectFrom('route')
    .selectAll()
    .select([
      sql<number[]>`array(select id from queue where queue.route = route.id order by id)`.as('queues'),
      sql<string[]>`array(select refused_by from queue where queue.route = route.id order by id)`.as('refusers'),
    ])
    .where('position', 'is not', null)
    .orderBy('position')
    .execute()
  return rows.map(routeOf)
}

/** A route that is known by its name keeps its number. No number is used up where nothing is new. */
async function store(transaction: Transaction<Tables>, route: Route, position: number): Promise<void> {
  const row = { ...rowOf(route), position }
  const [known] = await transaction.updateTable('route').set(row).where('name', '=', row.name).returning('id').execute()
  const { id } = known ?? (await transaction.insertInto('route').values(row).returning('id').executeTakeFirstOrThrow())
  const queues = await transaction.selectFrom('queue').select('refused_by').where('route', '=', id).execute()
  const isMissing = (refuser: string) => !queues.some(({ refused_by }) => refused_by === refuser)
  const added = (row.carriers.length > 1 ? row.carriers : []).filter(isMissing)
  const rows = added.map((refused_by): Insertable<Tables['queue']> => ({ route: id, refused_by }))
  if (isMissing('')) rows.push({ id, route: id, refused_by: '' })
  if (rows.length > 0) await transaction.insertInto('queue').values(rows).execute()
}
