import { listSizeMax, webhookEventTypes, type WantedWebhook, type WebhookChange } from '@gateway/core'
import { Type, type Static } from 'typebox'
import { failure, isFailure, type Failure } from './answer.ts'
import { given } from './given.ts'
import { oneOf } from './operation.ts'
import { filled } from './optional-fields.ts'
import { optional, reader, text } from './schema.ts'

const url = {
  expected: 'a URL',
  description:
    'Where events are pushed: a public `https` URL of at most 2048 characters, without user name and password.',
}

const settings = {
  events: optional(Type.Array(oneOf(webhookEventTypes, 'The name of an event.'), { minItems: 1 }), {
    expected: 'an array of one or more names of events',
    description: 'The events that are pushed. Left out, null or blank: of a new webhook all but `message.sent`.',
  }),
  listSize: optional(Type.Integer({ minimum: 1, maximum: listSizeMax }), {
    expected: `a whole number from 1 to ${listSizeMax}`,
    description: `Events in one request, at most. Left out, null or blank: of a new webhook ${listSizeMax}.`,
  }),
  withText: optional(Type.Boolean(), {
    expected: 'true or false',
    description: 'Whether events carry the text of messages. Left out, null or blank: of a new webhook no.',
  }),
}

/** The body of a POST to `/webhooks`. */
export const NewWebhook = Type.Object(
  { url: text(url), ...settings },
  { title: 'NewWebhook', expected: 'an object', description: 'A webhook to be added.' },
)

/** The body of a PATCH. */
export const WebhookChanges = Type.Object(
  {
    url: optional(text(url), url),
    ...settings,
    state: optional(oneOf(['active', 'paused'], 'Whether events are pushed.'), {
      expected: '"active" or "paused"',
      description: 'Active: what waits is pushed at once. Paused: events are kept for 30 days.',
    }),
  },
  {
    title: 'WebhookChange',
    expected: 'an object',
    description: 'What is to be changed. What is left out, null or blank stays as it is.',
  },
)

const readNew = reader(NewWebhook)
const readChanges = reader(WebhookChanges)

/** A `NewWebhook`; whether the URL may be used is for core to say. */
export function readNewWebhook(body: unknown): (WantedWebhook & { readonly url: string }) | Failure {
  const read = readBy(readNew, body)
  return isFailure(read) ? read : { url: read.url, ...settingsOf(read) }
}

/** A `WebhookChanges`; what is left out stays as it is. */
export function readWebhookChange(body: unknown): (WantedWebhook & Pick<WebhookChange, 'state'>) | Failure {
  const read = readBy(readChanges, body)
  if (isFailure(read)) return read
  const state = filled(read.state) === undefined ? undefined : STATE[read.state as keyof typeof STATE]
  return { url: filled(read.url), ...settingsOf(read), state }
}

const STATE = { active: 'active', paused: 'paused' } as const

function readBy<Read>(read: (body: unknown) => Read | Failure, body: unknown): Read | Failure {
  const events: unknown = typeof body === 'object' && body !== null && 'events' in body ? body.events : undefined
  const place = Array.isArray(events) ? events.findIndex((event) => !names.includes(event)) : -1
  const before = read(body)
  // The schema alone would not say which of them it is.
  if (place === -1 || !Array.isArray(events) || (typeof before === 'object' && before !== null && !isFailure(before)))
    return before
  return failure(
    'field-invalid',
    `events.${place} must be one of ${webhookEventTypes.join(', ')}; got ${given(events[place])}.`,
  )
}

const names: readonly unknown[] = webhookEventTypes

type Settings = Pick<Static<typeof NewWebhook>, keyof typeof settings>

const settingsOf = ({ events, listSize, withText }: Settings): Omit<WantedWebhook, 'url'> => ({
  events: Array.isArray(events) ? events : undefined,
  listSize: typeof listSize === 'number' ? listSize : undefined,
  withText: typeof withText === 'boolean' ? withText : undefined,
})
