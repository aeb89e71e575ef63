import { formatMinute, formatStamp } from '@gateway/core/time'
import type { Replay, ReplayTask, WebhookEventId } from '@gateway/core/webhooks'
import { REPLAY_STATE } from '@gateway/wire'
import { Type } from 'typebox'
import { type Answer, failure, type Failure, isFailure } from '../../answer.ts'
import { filled, describeValue, readTime } from '../../request.ts'
import {
  answerObject,
  get,
  Minute,
  nothing,
  oneOf,
  type Operation,
  orNull,
  post,
  remove,
  Stamp,
  WebhookNumber,
} from '../../operation.ts'
import { optional, reader, text } from '../../schema.ts'
import { idOf, noSuchWebhook } from '../../webhook-fields.ts'

const time = (which: string) =>
  optional(Type.Union([Type.String(), Type.Number()]), {
    expected: 'a string or a number YYYYMMDDHHmm',
    description: `${which}, YYYYMMDDHHmm at GMT+2.`,
  })
const eventId = { expected: 'the id of an event', description: 'The id of the one event to be pushed again.' }

const ReplayBody = Type.Object(
  {
    event: optional(text(eventId), eventId),
    from: time('The beginning of a period; with `to`'),
    to: time('The end of a period, exclusive; with `from`'),
    dead: optional(Type.Boolean(), {
      expected: 'true or false',
      description: 'True: all lists whose tries are exhausted.',
    }),
  },
  {
    title: 'Replay',
    expected: 'an object',
    description: 'The events to push again: exactly one of `event`, `from` with `to`, and `dead`.',
  },
)
const readBody = reader(ReplayBody)

/** Schema of `replayJson`. */
const ReplayAnswer = answerObject(
  'ReplayTask',
  {
    id: Type.Integer({ description: 'The number of the replay.', minimum: 1 }),
    webhookId: WebhookNumber,
    state: oneOf(
      Object.values(REPLAY_STATE),
      'Running: more events will be queued. Done: all events were queued. Stopped: no more events will be queued.',
    ),
    event: orNull(Type.String(), 'The requested event, or null.'),
    from: orNull(Minute, 'The beginning of the requested period, or null.'),
    to: orNull(Minute, 'The end of the requested period, exclusive, or null.'),
    dead: Type.Boolean({ description: 'True if dead lists were requested.' }),
    eventsReplayed: Type.Integer({
      description: 'Events that were queued again so far, including those that still wait to be pushed.',
    }),
    eventsWaiting: Type.Integer({ description: 'Events of the replay that wait to be pushed.' }),
    replayedUpTo: orNull(
      Stamp,
      'The replay has processed events up to this time. Null: none yet, or it does not proceed in order of time.',
    ),
    startedTime: Stamp,
    endedTime: orNull(Stamp, 'When the replay ended, or null while it is running.'),
  },
  'A replay and its progress.',
)

const example = {
  id: 1,
  webhookId: 1,
  state: 'running',
  event: null,
  from: '202610180900',
  to: '202610181000',
  dead: false,
  eventsReplayed: 0,
  eventsWaiting: 0,
  replayedUpTo: null,
  startedTime: '20261018100000000',
  endedTime: null,
}
const done = { ...example, state: 'done', endedTime: '20261018100000000' }

function replayJson({ id, webhook, replay, state, events, waiting, upTo, started, ended }: ReplayTask): string {
  const period = replay.kind === 'period' ? replay : undefined
  return JSON.stringify({
    id,
    webhookId: webhook,
    state: REPLAY_STATE[state],
    event: replay.kind === 'event' ? replay.event : null,
    from: period === undefined ? null : formatMinute(period.from),
    to: period === undefined ? null : formatMinute(period.to),
    dead: replay.kind === 'dead',
    eventsReplayed: events,
    eventsWaiting: waiting,
    replayedUpTo: period === undefined || upTo === undefined ? null : formatStamp(upTo),
    startedTime: formatStamp(started),
    endedTime: ended === undefined ? null : formatStamp(ended),
  })
}

const begun: Operation = {
  id: 'replayEvents',
  tag: 'Webhooks',
  summary: 'Replay events',
  description:
    'Starts to push events again that were pushed or given up in the last 30 days: one `event`, or the events from `from` until before `to`, ' +
    'or with `dead` all lists whose tries are exhausted. Events keep their ids, and each is pushed once. An account has one replay at a time: ' +
    'a second one is refused with 409 and the number of the first.',
  body: ReplayBody,
  answer: { replay: ReplayAnswer },
  examples: {
    'an hour': { id: 1, body: { from: '202610180900', to: '202610181000' }, answer: { replay: { ...example, id: 2 } } },
    'no period': {
      id: 1,
      body: { from: '202610180900' },
      answer: failure('wrong-body', 'The body must name one of event, from with to, and dead (true).'),
    },
  },
}

const shown: Operation = {
  id: 'getReplay',
  tag: 'Webhooks',
  summary: 'The latest replay of a webhook',
  description:
    'The progress of the latest replay of a webhook. It is available for 30 days after the end of the replay.',
  answer: { replay: ReplayAnswer },
  examples: { 'one that is done': { id: 1, answer: { replay: done } } },
}

const ended: Operation = {
  id: 'stopReplay',
  tag: 'Webhooks',
  summary: 'Stop the replay of a webhook',
  description:
    'Stops the latest replay of a webhook. Its waiting events are not pushed. A finished replay without waiting events stays unchanged.',
  answer: { replay: ReplayAnswer },
  examples: { 'one that is done': { id: 1, answer: { replay: done } } },
}

const noReplay = failure('no-such-replay', 'There was no replay of this webhook in the last 30 days.')

/** Refusal of a second replay, because an account has one replay at a time. */
export const replayRuns = ({ id, webhook }: Pick<ReplayTask, 'id' | 'webhook'>): Failure =>
  failure('replay-running', `Replay ${id} of webhook ${webhook} is running, and an account has one replay at a time.`)

const notOne = failure('wrong-body', 'The body must name one of event, from with to, and dead (true).')
const emptyPeriod = failure('field-invalid', 'from must be before to.')

/** Reads the requested replay: exactly one of event, period and dead lists. */
function readReplay(body: unknown): Replay | Failure {
  const read = readBody(body)
  if (isFailure(read)) return read
  const event = filled(read.event)
  const [from, to] = [readTime(read.from), readTime(read.to)]
  if (from === 'malformed') return notATime('from', read.from)
  if (to === 'malformed') return notATime('to', read.to)
  const isPeriod = from !== undefined || to !== undefined
  const isDead = read.dead === true
  if ([event !== undefined, isPeriod, isDead].filter(Boolean).length !== 1) return notOne
  if (event !== undefined) return { kind: 'event', event: event as WebhookEventId }
  if (isDead) return { kind: 'dead' }
  return from === undefined || to === undefined ? notOne : { kind: 'period', from, to }
}

const notATime = (name: string, value: unknown): Failure =>
  failure('invalid-time', `${name} must be a time YYYYMMDDHHmm; got ${describeValue(value)}.`)

export const replayEvents = post(
  begun,
  readReplay,
  async ({ gateway, account, parameter }, replay) => {
    const id = idOf(parameter)
    const done = id === 'no-such-webhook' ? id : await gateway.commands.startReplay(account, id, replay)
    if (done === 'no-such-webhook') return noSuchWebhook
    if (done === 'empty-period') return emptyPeriod
    return 'running' in done ? replayRuns(done.running) : answerOf(done.started)
  },
  { slow: true },
)

export const replay = get(shown, nothing, async ({ gateway, account, parameter }) => {
  const id = idOf(parameter)
  return answerOf(id === 'no-such-webhook' ? id : await gateway.queries.showReplay(account, id))
})

export const stopReplay = remove(ended, async ({ gateway, account, parameter }) => {
  const id = idOf(parameter)
  return answerOf(id === 'no-such-webhook' ? id : await gateway.commands.stopReplay(account, id))
})

function answerOf(task: ReplayTask | 'no-such-webhook' | 'no-replay'): Answer {
  if (task === 'no-such-webhook') return noSuchWebhook
  return task === 'no-replay' ? noReplay : `"replay":${replayJson(task)}`
}
