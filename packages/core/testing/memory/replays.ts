import type { Instant } from '@gateway/core/time'
import type { Replay, ReplayId, ReplayTask, WebhookEvent, WebhookId } from '@gateway/core/webhooks'
import type { ReplayRow, WebhookRow } from './rows.ts'
import type { MemoryStore } from './store.ts'
import { wakeSleepers } from './wakeups.ts'

export function startReplay(
  store: MemoryStore,
  { webhook }: WebhookRow,
  replay: Replay,
): { readonly started: ReplayTask } | { readonly running: ReplayTask } {
  const running = [...store.replays.values()].find(
    ({ account, task }) => account === webhook.account && task.state === 'running',
  )
  if (running !== undefined) return { running: withWaiting(store, running) }
  const id = store.next('replay') as ReplayId
  const row: ReplayRow = {
    account: webhook.account,
    task: {
      id,
      webhook: webhook.id,
      replay,
      state: 'running',
      events: 0,
      waiting: 0,
      upTo: undefined,
      started: store.clock.now(),
      ended: undefined,
    },
  }
  store.replays.set(id, row)
  wakeSleepers(store)
  return { started: row.task }
}

const latestOf = (store: MemoryStore, id: WebhookId): ReplayRow | undefined =>
  [...store.replays.values()].findLast(({ task }) => task.webhook === id)

export function findReplay(store: MemoryStore, id: WebhookId): ReplayTask | undefined {
  const row = latestOf(store, id)
  return row && withWaiting(store, row)
}

const waitingOf = (store: MemoryStore, { id, webhook }: ReplayTask): readonly WebhookEvent[] =>
  (store.webhooks.get(webhook)?.waiting ?? []).filter((event) => store.copies.get(event) === id)

const withWaiting = (store: MemoryStore, { task }: ReplayRow): ReplayTask => ({
  ...task,
  waiting: waitingOf(store, task).length,
})

export function stopReplay(store: MemoryStore, id: WebhookId): ReplayTask | undefined {
  const row = latestOf(store, id)
  if (row === undefined) return undefined
  const dropped = new Set(waitingOf(store, row.task))
  const waiting = store.webhooks.get(id)?.waiting ?? []
  waiting.splice(0, Infinity, ...waiting.filter((event) => !dropped.has(event)))
  if (row.task.state === 'running' || dropped.size > 0) {
    const ended = row.task.ended ?? store.clock.now()
    row.task = { ...row.task, state: 'stopped', events: row.task.events - dropped.size, ended }
  }
  return row.task
}

/** Replays all events of a replay in one step. */
export function advanceReplay(store: MemoryStore): 'more' | 'none' {
  const row = [...store.replays.values()].find(({ task }) => task.state === 'running')
  if (row === undefined) return 'none'
  const webhook = store.webhooks.get(row.task.webhook)
  const again = webhook === undefined ? [] : eventsOf(store, webhook, row.task.replay)
  for (const event of again) {
    const copy = { ...event }
    store.copies.set(copy, row.task.id)
    webhook?.waiting.push(copy)
  }
  row.task = { ...row.task, state: 'done', events: again.length, ended: store.clock.now() }
  if (again.length > 0) wakeSleepers(store)
  return 'more'
}

/** Returns the events to replay, each once. An event that an earlier replay queued is included only if it is dead. */
function eventsOf(store: MemoryStore, row: WebhookRow, replay: Replay): readonly WebhookEvent[] {
  const lists = [...row.lists.values()].filter(({ state }) =>
    replay.kind === 'dead' ? state === 'dead' : replay.kind === 'event' || state !== 'open',
  )
  const selected = lists
    .flatMap(({ events }) => events)
    .filter((event) => {
      const { id, occurred, data } = event
      if (data.type === 'test') return false
      if (replay.kind === 'event') return id === replay.event
      return replay.kind === 'dead' || (!store.copies.has(event) && occurred >= replay.from && occurred < replay.to)
    })
  if (replay.kind === 'dead') for (const list of lists) list.state = 'replayed'
  return [...new Map(selected.map((event) => [event.id, event])).values()]
}

/** Drops replays that ended long ago. */
export function dropReplays(store: MemoryStore, before: Instant): void {
  for (const [id, { task }] of store.replays) {
    if (task.ended !== undefined && task.ended < before) store.replays.delete(id)
  }
}
