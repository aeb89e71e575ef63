import {
  endpointsMax,
  type ClaimedList,
  type Claiming,
  type EventListId,
  type PushAnswer,
  type PushResult,
  type Webhook,
  type WebhookId,
  type Webhooks,
} from '@gateway/core/webhooks'
import type { Context } from '../context.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { claimLists, type ClaimedRow } from '../sql/claim-lists.ts'
import { divideLists, purgeWebhooks, recordPushes, releaseLists } from '../sql/push-events.ts'
import { VERDICT } from '../stored-codes.ts'
import { groupsOf, isReadable, storedEventsOf, type StoredEvents } from './stored-events.ts'
import { webhookOf } from './webhook-row.ts'

export const listIdOf = (id: number): EventListId => `list-${id}` as EventListId
const numberOf = (id: EventListId): number => Number(id.slice('list-'.length))

export function pushLists({
  pools: { hot, ordinary, kysely },
}: Context): Pick<Webhooks, 'claim' | 'record' | 'release' | 'purge'> {
  let after = 0

  async function webhooksOf(rows: readonly ClaimedRow[]): Promise<ReadonlyMap<WebhookId, Webhook>> {
    const ids = [...new Set(rows.map(({ webhook_id }) => webhook_id))]
    if (ids.length === 0) return new Map()
    const found = await kysely.selectFrom('webhook').selectAll().where('id', 'in', ids).execute()
    return new Map(found.map((row) => [row.id, webhookOf(row)]))
  }

  /** Claims lists. Walks over the endpoints from where the previous call ended, then once more from the start. */
  async function claim(claiming: Claiming): Promise<readonly ClaimedList[]> {
    for (let fromStart = after === 0; ; fromStart = true) {
      // If the answer to a claim is lost, its lists are not pushed. They are claimed again when their lease ends.
      const rows = await hot.run(claimLists, claimValues(after, claiming))
      after = rows[0]?.next ?? 0
      const claimed = rows.filter((row) => row.id !== null)
      const webhooks = await webhooksOf(claimed)
      if (webhooks.size === 0 && !(fromStart && after === 0)) continue
      return divided(
        claimed.flatMap((row) => {
          const webhook = webhooks.get(row.webhook_id)
          return webhook === undefined ? [] : listOf(webhook, row)
        }),
      )
    }
  }

  /**
   * Divides each list that has both readable and unreadable events into two lists that are due at once. Returns the
   * lists that were not divided.
   */
  async function divided(lists: readonly ReadList[]): Promise<readonly ClaimedList[]> {
    const mixed = lists.filter(isMixed)
    if (mixed.length === 0) return lists
    await hot.run(divideLists, {
      lists: mixed.map(({ id }) => numberOf(id)),
      tries: mixed.map(({ tries }) => tries),
      ones: mixed.map(({ stored }) => JSON.stringify(stored.filter(isReadable))),
      others: mixed.map(({ stored }) => JSON.stringify(stored.filter((one) => !isReadable(one)))),
    })
    return lists.filter((list) => !isMixed(list))
  }

  async function record(results: readonly PushResult[]): Promise<void> {
    if (results.length === 0) return
    const sorted = results.map((result) => ({ ...result, id: numberOf(result.list) })).sort((a, b) => a.id - b.id)
    await retryOnConnectionLoss(hot, recordPushes, {
      lists: sorted.map(({ id }) => id),
      tries: sorted.map(({ tries }) => tries),
      at: sorted.map(({ at }) => at),
      verdicts: sorted.map(({ verdict }) => VERDICT[verdict]),
      next: sorted.map(({ next }) => next),
      milliseconds: sorted.map(({ answer }) => Math.round(answer.milliseconds)),
      statuses: sorted.map(({ answer }) => (answer.outcome === 'answered' ? answer.status : undefined)),
      failures: sorted.map(({ answer }) => (answer.outcome === 'failed' ? answer.failure : undefined)),
      retryAfter: sorted.map(({ answer }) => (answer.outcome === 'answered' ? answer.retryAfterSeconds : undefined)),
      beginnings: sorted.map(({ answer }) => beginningOf(answer)),
    })
  }
  return {
    claim,
    record,
    release: async (lists) => {
      if (lists.length === 0) return
      const ids = lists.map(({ id }) => numberOf(id))
      await hot.run(releaseLists, { lists: ids, tries: lists.map(({ tries }) => tries) })
    },
    purge: async (rowsMax) => {
      const [row] = await ordinary.run(purgeWebhooks, { rowsMax })
      return row?.purged ?? 0
    },
  }
}

function claimValues(after: number, { listsMax, perWebhookMax, rooms, leaseSeconds }: Claiming) {
  const others = [...rooms].filter(([, room]) => room > 0)
  return {
    after,
    endpointsMax,
    listsMax,
    perEndpointMax: perWebhookMax,
    full: [...rooms].flatMap(([id, room]) => (room === 0 ? id : [])),
    limited: others.map(([id]) => id),
    rooms: others.map(([, room]) => room),
    leaseSeconds,
  }
}

/** Claimed list with its stored events, which are empty if the list cannot be read at all. */
interface ReadList extends ClaimedList {
  readonly stored: readonly StoredEvents[]
}

const isMixed = ({ unreadable, stored }: ReadList): boolean => unreadable > 0 && stored.some(isReadable)

/** Makes a list whose events are parsed only when it is pushed. */
function listOf(webhook: Webhook, { id, tries, events }: ClaimedRow): ReadList {
  const stored = storedEventsOf(events)
  const unreadable = stored.filter((one) => !isReadable(one)).reduce((sum, { subjects }) => sum + subjects.length, 0)
  let groups: ClaimedList['groups'] | undefined
  return {
    id: listIdOf(id),
    webhook,
    tries,
    stored,
    unreadable: stored.length === 0 ? 1 : unreadable,
    get groups() {
      return (groups ??= unreadable > 0 ? [] : groupsOf(stored))
    },
  }
}

/** Replaces U+0000, which PostgreSQL cannot store. */
const beginningOf = (answer: PushAnswer): string | undefined =>
  answer.outcome === 'answered' ? answer.beginning.replaceAll('\0', '\u{fffd}') : undefined
