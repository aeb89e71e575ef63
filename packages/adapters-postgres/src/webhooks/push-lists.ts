import {
  endpointsMax,
  type ClaimedList,
  type Claiming,
  type EventGroup,
  type EventListId,
  type PushAnswer,
  type PushResult,
  type Webhook,
  type Webhooks,
} from '@gateway/core'
import type { Context } from '../context.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { arrayOf, arrayOfNullable, arrayOfTexts, arrayOfTimes } from '../sql/arrays.ts'
import { claimLists, purgeWebhooks, recordPushes, releaseLists, type ClaimedRow } from '../sql/push-events.ts'
import { listsOfBatch } from './lists-of-batch.ts'
import { groupsOf, storedEventsOf, type StoredEvents } from './stored-event.ts'
import { VERDICT, webhookOf } from './webhook-row.ts'

export const listIdOf = (id: number): EventListId => `list-${id}` as EventListId
const numberOf = (id: EventListId): number => Number(id.slice('list-'.length))

export function pushLists({
  pools: { hot, ordinary, kysely },
}: Context): Pick<Webhooks, 'claim' | 'record' | 'release' | 'purge'> {
  let after = 0

  async function webhooksOf(claimed: readonly ClaimedRow[]): Promise<ReadonlyMap<number, Webhook>> {
    if (claimed.length === 0) return new Map()
    const ids = [...new Set(claimed.map(({ endpoint }) => endpoint))]
    const rows = await kysely.selectFrom('webhook').selectAll().where('id', 'in', ids).execute()
    return new Map(rows.map((row) => [row.id, webhookOf(row)]))
  }

  /** Walks over the endpoints from where the call before ended; once, from the start, if there was nothing behind that. */
  async function claim(claiming: Claiming): Promise<readonly ClaimedList[]> {
    for (let fromStart = after === 0; ; fromStart = true) {
      // A claim whose answer is lost is claimed again once its lease is over: nothing was pushed of it.
      const claimed = await hot.run(claimLists, claimValues(after, claiming))
      after = claimed.pop()?.endpoint ?? 0
      if (claimed.length === 0 && !(fromStart && after === 0)) continue
      const webhooks = await webhooksOf(claimed)
      return claimed.flatMap((row) => {
        const webhook = webhooks.get(row.endpoint)
        return webhook === undefined || row.list === null ? [] : listsOf(webhook, row.list, row)
      })
    }
  }

  async function record(results: readonly PushResult[]): Promise<void> {
    if (results.length === 0) return
    const told = results.map((result) => ({ ...result, id: numberOf(result.list) })).sort((a, b) => a.id - b.id)
    await retryOnConnectionLoss(hot, recordPushes, [
      arrayOf(told.map(({ id }) => id)),
      arrayOf(told.map(({ tries }) => tries)),
      arrayOfTimes(told.map(({ at }) => at)),
      arrayOf(told.map(({ verdict }) => VERDICT[verdict])),
      arrayOfTimes(told.map(({ next }) => next)),
      arrayOf(told.map(({ answer }) => Math.round(answer.milliseconds))),
      arrayOfNullable(told.map(({ answer }) => (answer.outcome === 'answered' ? answer.status : undefined))),
      arrayOfTexts(told.map(({ answer }) => (answer.outcome === 'failed' ? answer.failure : undefined))),
      arrayOfNullable(told.map(({ answer }) => (answer.outcome === 'answered' ? answer.retryAfterSeconds : undefined))),
      arrayOfTexts(told.map(({ answer }) => beginningOf(answer))),
    ])
  }
  return {
    claim,
    record,
    release: async (lists) => {
      if (lists.length === 0) return
      const ids = arrayOf(lists.map(({ id }) => numberOf(id)))
      await hot.run(releaseLists, [ids, arrayOf(lists.map(({ tries }) => tries))])
    },
    purge: async (rowsMax) => {
      const [row] = await ordinary.run(purgeWebhooks, [rowsMax])
      return row?.purged ?? 0
    },
  }
}

const claimValues = (after: number, claiming: Claiming): readonly unknown[] => {
  const { claimer, listsMax, perWebhookMax, ahead, leaseSeconds } = claiming
  const [fast, lists] = [arrayOf([...ahead.keys()]), arrayOf([...ahead.values()])]
  return [claimer, after, endpointsMax, listsMax, perWebhookMax, fast, lists, leaseSeconds]
}

/** Their events are read when the first of them is pushed. */
function listsOf(
  webhook: Webhook,
  first: number,
  { try: tries, content, pieces, size }: ClaimedRow,
): readonly ClaimedList[] {
  let lists: ReturnType<typeof listsOfBatch> | undefined
  const storedIn = (at: number): readonly StoredEvents[] => {
    lists ??= listsOfBatch(storedEventsOf(content), size ?? Infinity)
    return lists[at] ?? []
  }
  return Array.from({ length: pieces ?? 1 }, (_, at) => listOf(webhook, first + at, tries, () => storedIn(at)))
}

function listOf(webhook: Webhook, id: number, tries: number, stored: () => readonly StoredEvents[]): ClaimedList {
  let groups: readonly EventGroup[] | undefined
  return {
    id: listIdOf(id),
    webhook,
    tries,
    get groups() {
      return (groups ??= groupsOf(stored()))
    },
  }
}

/** Postgres stores no U+0000. */
const beginningOf = (answer: PushAnswer): string | undefined =>
  answer.outcome === 'answered' ? answer.beginning.replaceAll('\0', '\u{fffd}') : undefined
