import type { AccountId } from '@gateway/core/accounts'
import { daysBefore, secondsAfter, type Instant } from '@gateway/core/time'
import {
  deadListDays,
  testEventId,
  webhookConditions,
  webhooksMax,
  type ClaimedList,
  type Claiming,
  type EventListId,
  type NewWebhook,
  type PushResult,
  type Webhook,
  type WebhookChange,
  type WebhookCondition,
  type WebhookEvent,
  type WebhookEventId,
  type WebhookId,
  type Webhooks,
  type WebhookTotal,
} from '@gateway/core/webhooks'
import { failsTooLong } from '../contracts/specification/webhooks.ts'
import { atomic } from './atomic.ts'
import { advanceReplay, dropReplays, findReplay, startReplay, stopReplay } from './replays.ts'
import type { EventListRow, WebhookRow } from './rows.ts'
import type { MemoryStore } from './store.ts'
import { wakeSleepers } from './wakeups.ts'

export const memoryWebhooks = (store: MemoryStore): Webhooks => ({
  add: atomic((webhook, now) => add(store, webhook, now)),
  list: atomic((account) =>
    [...store.webhooks.values()]
      .map(({ webhook }) => webhook)
      .filter((webhook) => account === undefined || webhook.account === account),
  ),
  find: atomic((account, id) => rowOf(store, account, id)?.webhook),
  change: atomic((account, id, change, now) => {
    wakeSleepers(store)
    return changeWebhook(rowOf(store, account, id), change, now)
  }),
  remove: atomic((account, id) => {
    if (rowOf(store, account, id) === undefined) return false
    for (const [replay, { task }] of store.replays) if (task.webhook === id) store.replays.delete(replay)
    return store.webhooks.delete(id)
  }),
  rotate: atomic((account, id, change) => {
    const row = rowOf(store, account, id)
    if (row !== undefined)
      Object.assign(row, { webhook: { ...row.webhook, ...change(row.webhook) }, secretOrder: store.next('secret') })
    return row?.webhook
  }),
  lastSecret: atomic(
    () => [...store.webhooks.values()].toSorted((a, b) => b.secretOrder - a.secretOrder)[0]?.webhook.secret,
  ),
  resealSecrets: atomic((change) => {
    const changed = [...store.webhooks.values()].flatMap((row) => {
      const before = [row.webhook, ...row.webhook.previous].map(({ secret }) => secret)
      const [secret, ...others] = before.map(change)
      if (secret === undefined || [secret, ...others].every((one, i) => one === before[i])) return []
      const previous = row.webhook.previous.map((one, i) => ({ ...one, secret: others[i] ?? one.secret }))
      return [{ row, webhook: { ...row.webhook, secret, previous } }]
    })
    for (const { row, webhook } of changed) Object.assign(row, { webhook, secretOrder: store.next('secret') })
    return changed.length
  }),
  addTest: atomic((account, id, now) => {
    const row = rowOf(store, account, id)
    return row && addTest(store, row, now)
  }),
  startReplay: atomic((account, id, replay) => {
    const row = rowOf(store, account, id)
    return row && startReplay(store, row, replay)
  }),
  findReplay: atomic((account, id) => (rowOf(store, account, id) ? findReplay(store, id) : undefined)),
  stopReplay: atomic((account, id) => (rowOf(store, account, id) ? stopReplay(store, id) : undefined)),
  advanceReplay: atomic(() => advanceReplay(store)),
  attempts: atomic((account, id, { offset, limit }) => {
    const row = rowOf(store, account, id)
    if (row === undefined) return undefined
    const all = [...row.lists.values()].flatMap(({ attempts }) => attempts).toSorted((a, b) => b.at - a.at)
    return { total: all.length, items: all.slice(offset, offset + limit) }
  }),
  backlog: atomic((id) => {
    const { waiting, lists } = store.webhooks.get(id) ?? { waiting: [], lists: new Map<EventListId, EventListRow>() }
    const inState = (requestedState: EventListRow['state']) =>
      [...lists.values()].filter(({ state }) => state === requestedState).length
    return { events: waiting.length, lists: inState('open'), dead: inState('dead') }
  }),
  totals: atomic((rowsMax) => webhookConditions.map((condition) => totalOf(store, condition, rowsMax))),
  claim: atomic((claiming) => claim(store, claiming)),
  record: atomic((results) => {
    for (const result of results) record(store, result)
  }),
  release: atomic((lists) => {
    for (const { id, tries } of lists) {
      const list = findList(store, id)?.list
      if (list?.state === 'open' && list.tries === tries && list.leased) {
        Object.assign(list, { tries: tries - 1, leased: false, due: store.clock.now() })
      }
    }
  }),
  purge: atomic((rowsMax) => purge(store, rowsMax)),
})

const rowOf = (store: MemoryStore, account: AccountId | undefined, id: WebhookId): WebhookRow | undefined => {
  const row = store.webhooks.get(id)
  return account === undefined || row?.webhook.account === account ? row : undefined
}

function add(store: MemoryStore, webhook: NewWebhook, now: Instant): Webhook | 'too-many' | 'no-such-account' {
  if (!store.accounts.has(webhook.account)) return 'no-such-account'
  const ofAccount = [...store.webhooks.values()].filter((row) => row.webhook.account === webhook.account)
  if (ofAccount.length >= webhooksMax) return 'too-many'
  const added: Webhook = {
    ...webhook,
    id: store.next('webhook') as WebhookId,
    state: 'active',
    pausedFor: undefined,
    created: now,
    failingSince: undefined,
    previous: [],
  }
  store.webhooks.set(added.id, { webhook: added, secretOrder: store.next('secret'), waiting: [], lists: new Map() })
  return added
}

function changeWebhook(row: WebhookRow | undefined, change: WebhookChange, now: Instant): Webhook | undefined {
  if (row === undefined) return undefined
  const { webhook } = row
  const {
    url = webhook.url,
    events = webhook.events,
    listSize = webhook.listSize,
    withText = webhook.withText,
  } = change
  row.webhook = { ...webhook, url, events, listSize, withText }
  if (change.state === 'active') {
    row.webhook = { ...row.webhook, state: 'active', pausedFor: undefined, failingSince: undefined }
    for (const list of openOf(row)) if (!list.leased) list.due = now
  }
  if (change.state === 'paused' && webhook.state === 'active') {
    row.webhook = { ...row.webhook, state: 'paused', pausedFor: 'by-request' }
  }
  return row.webhook
}

const openOf = (row: WebhookRow): readonly EventListRow[] =>
  [...row.lists.values()].filter(({ state }) => state === 'open')

function newList(store: MemoryStore, row: WebhookRow, events: readonly WebhookEvent[], due: Instant): EventListRow {
  const id = `list-${store.next('event-list')}` as EventListId
  const list: EventListRow = { id, events, state: 'open', tries: 0, due, leased: false, attempts: [] }
  row.lists.set(id, list)
  return list
}

function addTest(store: MemoryStore, row: WebhookRow, now: Instant): WebhookEventId {
  const id = testEventId(store.next('test-event'))
  newList(store, row, [{ id, sequence: 1, occurred: now, data: { type: 'test' } }], now)
  wakeSleepers(store)
  return id
}

function totalOf(store: MemoryStore, condition: WebhookCondition, rowsMax: number): WebhookTotal {
  const rows = [...store.webhooks.values()].filter(({ webhook }) => conditionOf(webhook) === condition)
  const counted = rows.map(({ waiting, lists }) => ({
    events: waiting.slice(0, rowsMax),
    lists: [...lists.values()].filter(({ state }) => state === 'open').slice(0, rowsMax),
    dead: [...lists.values()].filter(({ state }) => state === 'dead').slice(0, rowsMax),
  }))
  const all = counted.flatMap(({ events, lists }) => [...events, ...lists.flatMap((list) => list.events)])
  const [oldest] = all.map(({ occurred }) => occurred).toSorted((a, b) => a - b)
  const sumOf = (field: 'events' | 'lists' | 'dead') => counted.reduce((sum, each) => sum + each[field].length, 0)
  const backlog = { events: sumOf('events'), lists: sumOf('lists'), dead: sumOf('dead') }
  return { condition, endpoints: rows.length, ...backlog, oldest }
}

const conditionOf = ({ state, failingSince }: Webhook): WebhookCondition =>
  state === 'active' && failingSince !== undefined ? 'failing' : state

function claim(store: MemoryStore, claiming: Claiming): readonly ClaimedList[] {
  const { listsMax, perWebhookMax, rooms, leaseSeconds } = claiming
  const now = store.clock.now()
  const claimed: ClaimedList[] = []
  const all = [...store.webhooks.values()].map((row) => ({ row, room: rooms.get(row.webhook.id) ?? perWebhookMax }))
  for (let before = -1; before !== claimed.length;) {
    before = claimed.length
    for (const one of all) {
      const list = one.room > 0 && claimed.length < listsMax ? nextList(store, one.row, now, claimed) : undefined
      if (list === undefined) continue
      one.room--
      Object.assign(list, { leased: true, tries: list.tries + 1, due: secondsAfter(now, leaseSeconds) })
      claimed.push({ id: list.id, webhook: one.row.webhook, groups: list.events, unreadable: 0, tries: list.tries })
    }
  }
  return claimed
}

function nextList(
  store: MemoryStore,
  row: WebhookRow,
  now: Instant,
  claimed: readonly ClaimedList[],
): EventListRow | undefined {
  const { webhook, waiting } = row
  const isActive = webhook.state === 'active'
  const [again] = openOf(row)
    .filter(({ id }) => !claimed.some((list) => list.id === id))
    .filter(({ due, events }) => due <= now && (isActive || events[0]?.data.type === 'test'))
    .toSorted((a, b) => a.due - b.due)
  if (again !== undefined || !isActive || waiting.length === 0) return again
  const events = waiting
    .splice(0, webhook.listSize)
    .map((event) => (webhook.withText ? event : withoutText(store, event)))
  return newList(store, row, events, now)
}

function withoutText(store: MemoryStore, event: WebhookEvent): WebhookEvent {
  if (event.data.type === 'test') return event
  const without: WebhookEvent = { ...event, data: { ...event.data, text: undefined } }
  const replay = store.copies.get(event)
  if (replay !== undefined) store.copies.set(without, replay)
  return without
}

function findList(store: MemoryStore, id: EventListId): { row: WebhookRow; list: EventListRow } | undefined {
  for (const row of store.webhooks.values()) {
    const list = row.lists.get(id)
    if (list !== undefined) return { row, list }
  }
  return undefined
}

function record(store: MemoryStore, result: PushResult): void {
  const { row, list } = findList(store, result.list) ?? {}
  if (row === undefined || list?.state !== 'open' || !list.leased || list.tries !== result.tries) return
  const { verdict, at, next } = result
  list.attempts.push({ ...result, events: list.events.map(({ id }) => id) })
  list.leased = false
  list.due = next ?? at
  const isTest = list.events[0]?.data.type === 'test'
  if (verdict === 'delivered') list.state = 'delivered'
  if (verdict === 'dead') list.state = 'dead'
  if (verdict === 'failed' || (verdict === 'gone' && isTest)) list.state = 'failed'
  if (isTest && verdict === 'failed') return
  const failingSince = verdict === 'delivered' ? undefined : (row.webhook.failingSince ?? at)
  row.webhook = { ...row.webhook, failingSince }
  if (verdict === 'gone') row.webhook = { ...row.webhook, state: 'disabled', pausedFor: undefined }
  else if (row.webhook.state === 'active' && failsTooLong(failingSince, at)) {
    row.webhook = { ...row.webhook, state: 'paused', pausedFor: 'failing' }
  }
}

/**
 * Returns true if a list can be deleted: it ended before `before` or, if it is still open, all its events happened
 * before `before`.
 */
const isOld = ({ state, due, events }: EventListRow, before: Instant): boolean =>
  state === 'open' ? events.every(({ occurred }) => occurred < before) : due < before

function purge(store: MemoryStore, rowsMax: number): number {
  const before = daysBefore(store.clock.now(), deadListDays)
  dropReplays(store, before)
  const counts = [...store.webhooks.values()].map((row) => {
    const lists = [...row.lists.values()].filter((list) => isOld(list, before)).slice(0, rowsMax)
    for (const { id } of lists) row.lists.delete(id)
    const young = row.waiting.filter(({ occurred }) => occurred >= before)
    const dropped = row.waiting.length - young.length
    row.waiting.splice(0, Infinity, ...young)
    return Math.max(lists.length, dropped)
  })
  return Math.max(0, ...counts)
}
