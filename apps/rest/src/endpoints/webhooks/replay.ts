import type { Replay, WebhookEventId } from '@gateway/core'
import { Type } from 'typebox'
import { failure, isFailure, type Failure } from '../../answer.ts'
import { post } from '../../endpoint.ts'
import { given } from '../../given.ts'
import type { Operation } from '../../operation.ts'
import { filled, readTime } from '../../optional-fields.ts'
import { optional, reader, text } from '../../schema.ts'
import { idOf, noSuchWebhook } from '../../webhook-fields.ts'

const time = optional(Type.Union([Type.String(), Type.Number()]), 'a string or a number YYYYMMDDHHmm')

const ReplayBody = Type.Object(
  {
    event: optional(text('the id of an event'), 'the id of an event'),
    from: time,
    to: time,
    dead: optional(Type.Boolean(), 'true or false'),
  },
  { title: 'Replay', description: 'an object' },
)
const readBody = reader(ReplayBody)

const operation: Operation = {
  id: 'replayEvents',
  summary: 'Replay events',
  description:
    'Pushes events again that were pushed or given up in the last 30 days: one `event`, or what happened from `from` until before `to`, ' +
    'or with `dead` all lists whose tries are exhausted. They keep their ids.',
  body: ReplayBody,
  answer: { eventsReplayed: Type.Integer({ description: 'How many events are pushed again.' }) },
  examples: {
    'an event that is not there': { id: 1, body: { event: 'message-374-4' }, answer: { eventsReplayed: 0 } },
    'all dead lists': { id: 1, body: { dead: true }, answer: { eventsReplayed: 0 } },
    'an hour': { id: 1, body: { from: '202610180900', to: '202610181000' }, answer: { eventsReplayed: 0 } },
    'no period': {
      id: 1,
      body: { from: '202610180900' },
      answer: 'The body must name one of event, from with to, and dead (true).',
    },
  },
}

const notOne = failure(422, 'The body must name one of event, from with to, and dead (true).')
const emptyPeriod = failure(422, 'from must be before to.')

/** What is asked for; exactly one of the three. */
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
  if (event !== undefined) return { what: 'event', event: event as WebhookEventId }
  if (isDead) return { what: 'dead' }
  return from === undefined || to === undefined ? notOne : { what: 'period', from, to }
}

const notATime = (name: string, value: unknown): Failure =>
  failure(422, `${name} must be a time YYYYMMDDHHmm; got ${given(value)}.`)

export const replayEvents = post(
  operation,
  readReplay,
  async ({ gateway, account, parameter }, replay) => {
    const id = idOf(parameter)
    const done = id === 'no-such-webhook' ? id : await gateway.replayEvents(account, id, replay)
    if (done === 'no-such-webhook') return noSuchWebhook
    return done === 'empty-period' ? emptyPeriod : `"eventsReplayed":${done}`
  },
  { slow: true },
)
