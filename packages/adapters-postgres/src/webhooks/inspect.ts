import {
  instant,
  testEventId,
  webhookConditions,
  webhookEventTypes,
  eventsOf,
  type AccountId,
  type Instant,
  type Page,
  type Paged,
  type PushAnswer,
  type PushAttempt,
  type PushFailure,
  type PushVerdict,
  type Replay,
  type WebhookEventId,
  type WebhookId,
  type Webhooks,
} from '@gateway/core'
import type { Context } from '../context.ts'
import { arrayOf, timestamp } from '../sql/arrays.ts'
import {
  addTestList,
  backlogOf,
  findBatches,
  listAttempts,
  replayDead,
  replayEvent,
  replayPeriod,
  webhookTotals,
  type AttemptRow,
} from '../sql/inspect-webhooks.ts'
import { placeOf } from './event-places.ts'
import { listsOfBatch, listsPerBatch } from './lists-of-batch.ts'
import { listIdOf } from './push-lists.ts'
import { groupsOf, storedEventsOf, type StoredEvents } from './stored-event.ts'
import { VERDICT } from './webhook-row.ts'

const verdicts = Object.keys(VERDICT) as readonly PushVerdict[]

export function inspectWebhooks(
  { pools: { hot, ordinary } }: Context,
  { find }: Pick<Webhooks, 'find'>,
): Pick<Webhooks, 'addTest' | 'replay' | 'attempts' | 'backlog' | 'totals'> {
  async function addTest(account: AccountId | undefined, id: WebhookId, now: Instant) {
    if ((await find(account, id)) === undefined) return undefined
    const [row] = await ordinary.run(addTestList, [id, timestamp(now), placeOf('test')])
    if (row === undefined) throw new Error('a test event was stored without a number')
    return testEventId(row.number)
  }

  async function replay(account: AccountId | undefined, id: WebhookId, wanted: Replay): Promise<number | undefined> {
    if ((await find(account, id)) === undefined) return undefined
    const [row] = await rowsOf(id, wanted)
    return row?.replayed ?? 0
  }

  /** One event is sought in few lists, with a plan for that; the others read what there is. */
  async function rowsOf(id: WebhookId, wanted: Replay) {
    if (wanted.what === 'dead') return ordinary.run(replayDead, [id])
    if (wanted.what === 'period') {
      return ordinary.run(replayPeriod, [id, timestamp(wanted.from), timestamp(wanted.to)])
    }
    const key = keyOf(wanted.event)
    if (key === undefined) return []
    const { types, subject, sequence = null, number = null, at = null } = key
    return hot.run(replayEvent, [id, types, subject, sequence, number, at])
  }

  async function attempts(account: AccountId | undefined, id: WebhookId, { offset, limit }: Page) {
    if ((await find(account, id)) === undefined) return undefined
    const rows = await ordinary.run(listAttempts, [id, offset, limit])
    const eventsIn = await eventsOfLists(rows)
    const items = rows.flatMap((row) => (row.list === null ? [] : attemptOf({ ...row, list: row.list }, eventsIn)))
    return { total: rows[0]?.total ?? 0, items } satisfies Paged<PushAttempt>
  }

  /** Their own events, or those that their batches have. */
  async function eventsOfLists(rows: readonly AttemptRow[]): Promise<EventsIn> {
    const batches = new Set(rows.flatMap(({ list, events }) => (list === null || events !== null ? [] : batchOf(list))))
    const found = batches.size === 0 ? [] : await ordinary.run(findBatches, [arrayOf([...batches])])
    const lists = new Map(
      found.map(({ id, list_size, events }) => [id, listsOfBatch(storedEventsOf(events), list_size)]),
    )
    return (list, events) =>
      events === null ? (lists.get(batchOf(list))?.[list % listsPerBatch] ?? []) : storedEventsOf(events)
  }
  return {
    addTest,
    replay,
    attempts,
    backlog: async (id) => {
      const [row] = await ordinary.run(backlogOf, [id])
      return row ?? { events: 0, lists: 0, dead: 0 }
    },
    totals: async (rowsMax) => {
      const rows = await ordinary.run(webhookTotals, [rowsMax])
      const none = { endpoints: 0, events: 0, lists: 0, dead: 0, oldest: null }
      return webhookConditions.map((condition) => {
        const { oldest, ...counts } = rows.find((row) => row.condition === condition) ?? { ...none, condition }
        return { ...counts, oldest: oldest === null ? undefined : instant(oldest) }
      })
    },
  }
}

type EventsIn = (list: number, events: string | null) => readonly StoredEvents[]

const batchOf = (list: number): number => Math.floor(list / listsPerBatch)

function attemptOf(row: AttemptRow & { readonly list: number }, eventsIn: EventsIn): PushAttempt {
  const { list, tries, at, next, verdict, events } = row
  return {
    list: listIdOf(list),
    tries,
    at: at as Instant,
    answer: answerOf(row),
    verdict: verdicts[verdict] ?? 'dead',
    next: (next ?? undefined) as Instant | undefined,
    events: eventsOf({ groups: groupsOf(eventsIn(list, events)) }).map((event) => event.id),
  }
}

const answerOf = ({ status, failure, retry_after, beginning, milliseconds }: AttemptRow): PushAnswer =>
  status === null
    ? { outcome: 'failed', failure: failure as PushFailure, milliseconds }
    : {
        outcome: 'answered',
        status,
        retryAfterSeconds: retry_after ?? undefined,
        beginning: beginning ?? '',
        milliseconds,
      }

interface EventKey {
  readonly types: string
  readonly subject: string
  readonly sequence?: string
  readonly number?: string
  readonly at?: string
}

/** What the id of an event says of its row; undefined: it is the id of no event that can be replayed. */
function keyOf(id: WebhookEventId): EventKey | undefined {
  const [, message, sequence] = /^message-(\d{1,15})-(\d)$/.exec(id) ?? []
  if (message !== undefined && sequence !== undefined) {
    return { types: placesOf('message.'), subject: message, sequence }
  }
  const [, inbound] = /^inbound-(\d{1,15})$/.exec(id) ?? []
  if (inbound !== undefined) return { types: placesOf('.received'), subject: inbound }
  const [, change, subject, at] = /^optout-(added|removed)-(\d{1,15})(?:-(\d{1,15}))?$/.exec(id) ?? []
  if (change === undefined || subject === undefined) return undefined
  const types = placesOf(`optout.${change}`)
  return at === undefined ? { types, subject } : { types, subject: '0', number: subject, at }
}

const placesOf = (part: string): string =>
  `{${webhookEventTypes
    .filter((type) => type.includes(part))
    .map(placeOf)
    .join()}}`
