import type { CarrierLoad, Overview, RunningDispatcher, WaitingWork } from '@gateway/core/fleet'
import type { Connections } from '../connections.ts'
import type { Context } from '../context.ts'
import { countUnknownOutcomes, listDispatchers, listQueue, listWaitingRoutes } from '../sql/overview.ts'
import { lanes } from '../stored-codes.ts'

const pageAccounts = 1000

export const postgresOverview = ({ pools: { ordinary } }: Context): Overview => ({
  dispatchers: () => dispatchers(ordinary),
  queue: () => queue(ordinary),
  routes: async () => {
    const rows = await ordinary.run(listWaitingRoutes, {})
    return rows.map(({ route, due, single, oldest, oldestSingle, oldestBulk }) => ({
      route: route ?? undefined,
      due,
      single,
      oldestDue: oldest,
      oldestOfLane: {
        ...(oldestSingle !== null && { single: oldestSingle }),
        ...(oldestBulk !== null && { bulk: oldestBulk }),
      },
    }))
  },
  unknownOutcomes: (seconds) => ordinary.run(countUnknownOutcomes, { seconds }),
})

async function dispatchers(ordinary: Connections): Promise<readonly RunningDispatcher[]> {
  const found = new Map<number, RunningDispatcher & { readonly loads: CarrierLoad[] }>()
  for (const row of await ordinary.run(listDispatchers, {})) {
    const { id, since, version, host, pid, lease, overdue } = row
    const dispatcher = found.get(id) ?? {
      id,
      since: since ?? undefined,
      version: version ?? undefined,
      place: host === null || pid === null ? undefined : { host, pid },
      leaseUntil: lease,
      overdue,
      loads: [],
    }
    found.set(id, dispatcher)
    if (row.carrier === null) continue
    const { carrier, batches, messages, in_doubt: inDoubt } = row
    dispatcher.loads.push({ carrier, batches, messages, inDoubt })
  }
  return [...found.values()]
}

async function* queue(ordinary: Connections): AsyncIterable<WaitingWork> {
  for (let after = 0; ;) {
    const rows = await ordinary.run(listQueue, { after, accountsMax: pageAccounts })
    for (const row of rows) {
      if (row.account === null) continue
      const { account, lane, due, oldest, scheduled, postponed } = row
      yield {
        account,
        lane: lanes.get(lane) ?? 'bulk',
        due,
        oldestDue: oldest ?? undefined,
        scheduled,
        postponed,
      }
    }
    const bound = rows[0]?.bound ?? null
    if (bound === null) return
    after = bound
  }
}
