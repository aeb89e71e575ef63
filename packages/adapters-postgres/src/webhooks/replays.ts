import type { AccountId } from '@gateway/core/accounts'
import {
  webhookEventTypes,
  type Replay,
  type ReplayTask,
  type WebhookEventId,
  type WebhookId,
  type Webhooks,
} from '@gateway/core/webhooks'
import type { Context } from '../context.ts'
import type { RowOf, ValuesOf } from '../sql/statement.ts'
import {
  latestReplay,
  nextReplay,
  replayDead,
  replayEvent,
  replayPeriod,
  runningReplay,
  startReplay,
  stopReplay,
} from '../sql/replay-events.ts'
import { EVENT_CODE, REPLAY_STATE, replayStates } from '../stored-codes.ts'

type Replays = Pick<Webhooks, 'startReplay' | 'findReplay' | 'stopReplay' | 'advanceReplay'>

export function replays({ pools: { hot, ordinary } }: Context, { find }: Pick<Webhooks, 'find'>): Replays {
  async function start(
    account: AccountId | undefined,
    id: WebhookId,
    replay: Replay,
  ): ReturnType<Webhooks['startReplay']> {
    if ((await find(account, id)) === undefined) return undefined
    const event = replay.kind === 'event' ? replay.event : null
    const { from, to } = replay.kind === 'period' ? replay : { from: null, to: null }
    const [started] = await ordinary.run(startReplay, { webhook: id, event, from, to })
    if (started !== undefined) return { started: taskOf(started) }
    const [running] = await ordinary.run(runningReplay, { webhook: id })
    // No replay is running if it has ended in between or the endpoint was deleted.
    return running === undefined ? start(account, id, replay) : { running: taskOf(running) }
  }

  async function latest(account: AccountId | undefined, id: WebhookId): Promise<ReplayTask | undefined> {
    if ((await find(account, id)) === undefined) return undefined
    const [row] = await ordinary.run(latestReplay, { webhook: id })
    return row && taskOf(row)
  }

  async function advance(): Promise<'more' | 'waits' | 'none'> {
    const [next] = await ordinary.run(nextReplay, {})
    if (next === undefined) return 'none'
    const [row] = await stepOf(next)
    // No row means that another process works on this replay.
    if (row === undefined) return 'waits'
    return row.is_full && row.state === REPLAY_STATE.running ? 'waits' : 'more'
  }

  /**
   * Runs a step of a replay. The replay of a single event uses the hot connections, because their prepared plan reads
   * few lists. Other replays read many lists.
   */
  function stepOf({ id, event, is_dead }: RowOf<typeof nextReplay>) {
    if (is_dead) return ordinary.run(replayDead, { replay: id })
    if (event === null) return ordinary.run(replayPeriod, { replay: id })
    return hot.run(replayEvent, { replay: id, ...keyOf(event) })
  }
  return {
    startReplay: start,
    findReplay: latest,
    stopReplay: async (account, id) => {
      const task = await latest(account, id)
      if (task === undefined) return undefined
      await ordinary.run(stopReplay, { replay: task.id })
      return latest(account, id)
    },
    advanceReplay: advance,
  }
}

type ReplayRow = RowOf<typeof latestReplay>

const taskOf = (row: ReplayRow): ReplayTask => ({
  id: row.id,
  webhook: row.webhook_id,
  replay: replayOf(row),
  state: replayStates.get(row.state) ?? 'stopped',
  events: row.events,
  waiting: row.waiting,
  upTo: row.up_to ?? undefined,
  started: row.started_at,
  ended: row.ended_at ?? undefined,
})

function replayOf({ event, from_at, to_at }: ReplayRow): Replay {
  if (event !== null) return { kind: 'event', event }
  if (from_at === null || to_at === null) return { kind: 'dead' }
  return { kind: 'period', from: from_at, to: to_at }
}

type EventKey = Omit<ValuesOf<typeof replayEvent>, 'replay'>

/**
 * Parses the id of an event into the key of its row. `types` is empty for the id of an event that cannot be replayed.
 */
function keyOf(id: WebhookEventId): EventKey {
  const nothing = { sequence: null, number: null, at: null }
  const [, message, sequence] = /^message-(\d{1,15})-(\d)$/.exec(id) ?? []
  if (message !== undefined && sequence !== undefined) {
    return { ...nothing, types: codesOf('message.'), subject: Number(message), sequence: Number(sequence) }
  }
  const [, inbound] = /^inbound-(\d{1,15})$/.exec(id) ?? []
  if (inbound !== undefined) return { ...nothing, types: codesOf('.received'), subject: Number(inbound) }
  const [, change, subject, at] = /^optout-(added|removed)-(\d{1,15})(?:-(\d{1,15}))?$/.exec(id) ?? []
  if (change === undefined || subject === undefined) return { ...nothing, types: [], subject: 0 }
  const types = codesOf(`optout.${change}`)
  return at === undefined
    ? { ...nothing, types, subject: Number(subject) }
    : { ...nothing, types, subject: 0, number: Number(subject), at: Number(at) }
}

const codesOf = (part: string): readonly number[] =>
  webhookEventTypes.filter((type) => type.includes(part)).map((type) => EVENT_CODE[type])
