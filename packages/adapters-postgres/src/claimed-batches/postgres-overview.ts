import type { AccountId } from '@gateway/core/accounts'
import type { CarrierId, DispatcherId } from '@gateway/core/dispatch'
import type { CarrierLoad, Overview, RunningDispatcher, WaitingWork } from '@gateway/core/fleet'
import { instant } from '@gateway/core/time'
import type { Connections } from '../connections.ts'
import type { Context } from '../context.ts'
import { listDispatchers, listQueue, listWaitingRoutes } from '../sql/overview.ts'
import { lanes } from '../stored-codes.ts'

const pageAccounts = 1000

export const postgresOverview = ({ pools: { ordinary } }: Context): Overview => ({
  dispatchers: () => dispatchers(ordinary),
  queue: () => queue(ordinary),
  routes: async () => {
    const rows = await ordinary.run(listWaitingRoutes, {})
    return rows.map(({ route, due, single, oldest }) => ({
      route: route ?? undefined,
      due,
      single,
      oldestDue: instant(oldest),
    }))
  },
})

async function dispatchers(ordinary: Connections): Promise<readonly RunningDispatcher[]> {
  const found = new Map<number, RunningDispatcher & { readonly loads: CarrierLoad[] }>()
  for (const row of await ordinary.run(listDispatchers, {})) {
    const { id, since, version, host, pid, lease, overdue, carrier, batches, messages, in_doubt: inDoubt } = row
    const dispatcher = found.get(id) ?? {
      id: id as DispatcherId,
      since: since === null ? undefined : instant(since),
      version: version ?? undefined,
      place: host === null || pid === null ? undefined : { host, pid },
      leaseUntil: instant(lease),
      overdue,
      loads: [],
    }
    found.set(id, dispatcher)
    if (carrier !== null) dispatcher.loads.push({ carrier: carrier as CarrierId, batches, messages, inDoubt })
  }
  return [...found.values()]
}

async function* queue(ordinary: Connections): AsyncIterable<WaitingWork> {
  for (let after = 0; ;) {
    const rows = await ordinary.run(listQueue, { after, accountsMax: pageAccounts })
    for (const { account, lane, due, oldest, scheduled, postponed } of rows) {
      if (account === null) continue
      yield {
        account: account as AccountId,
        lane: lanes.get(lane) ?? 'bulk',
        due,
        oldestDue: oldest === null ? undefined : instant(oldest),
        scheduled,
        postponed,
      }
    }
    const bound = rows[0]?.bound ?? null
    if (bound === null) return
    after = bound
  }
}
