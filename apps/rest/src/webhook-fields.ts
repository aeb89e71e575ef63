import { formatMinute, type Instant } from '@gateway/core/time'
import {
  listSizeMax,
  previousUntil,
  type ShownWebhook,
  type WantedWebhook,
  type Webhook,
  type WebhookChange,
  webhookEventTypes,
  webhookId,
  type WebhookId,
  type WebhookRefusal,
  webhooksMax,
} from '@gateway/core/webhooks'
import { URL_RULE } from '@gateway/wire'
import { type Static, Type } from 'typebox'
import { failure, type Failure, isFailure } from './answer.ts'
import { filled, given } from './given.ts'
import { answerObject, Minute, oneOf, orNull, WebhookNumber } from './operation.ts'
import { optional, reader, text } from './schema.ts'
import { PAUSED_FOR, WEBHOOK_STATE } from './words.ts'

const Events = Type.Array(oneOf(webhookEventTypes, 'The name of an event.'), {
  description: 'The events that are pushed.',
})

/** In examples. */
export const webhookExample = {
  id: 1,
  url: 'https://crm.example.com/sms-events',
  events: ['message.delivered', 'message.failed', 'reply.received'],
  listSize: 100,
  withText: true,
  state: 'active',
  pausedFor: null,
  createdTime: '202610181000',
  failingSince: '202610181000',
  previousSecretUntil: null,
}

/** `webhookJson`. */
export const WebhookAnswer = answerObject(
  'Webhook',
  {
    id: WebhookNumber,
    url: Type.String({ description: 'Where events are pushed.' }),
    events: Events,
    listSize: Type.Integer({ description: 'Events in one request, at most.', minimum: 1, maximum: listSizeMax }),
    withText: Type.Boolean({ description: 'Whether events carry the text of messages.' }),
    state: oneOf(
      Object.values(WEBHOOK_STATE),
      'Paused: events are kept. Disabled: it answered 410, and what happens is not kept.',
    ),
    pausedFor: orNull(oneOf(Object.values(PAUSED_FOR), 'Why it is paused.'), 'Null if it is not paused.'),
    createdTime: Minute,
    failingSince: orNull(
      Minute,
      'Since then no request has succeeded; null if the last one did. A test that fails does not count.',
    ),
    previousSecretUntil: orNull(Minute, 'Until then a secret before signs too; null if none does.'),
  },
  'A webhook, without its secrets.',
)

/** `waitingJson`. */
export const WaitingAnswer = answerObject(
  'WaitingEvents',
  {
    events: Type.Integer({ description: 'Events that are in no list yet.' }),
    lists: Type.Integer({ description: 'Lists that are being tried.' }),
    deadLists: Type.Integer({ description: 'Lists whose tries are exhausted.' }),
  },
  'What waits to be pushed to it.',
)

export const Secret = Type.String({
  description: 'The signing secret, `whsec_` and base64. It is shown only here.',
  pattern: '^whsec_[A-Za-z0-9+\\/]{43}=$',
  minLength: 50,
  maxLength: 50,
})

/** An endpoint without its secrets. */
export const webhookJson = (webhook: Webhook, now: Instant): string =>
  JSON.stringify({
    id: webhook.id,
    url: webhook.url,
    events: webhook.events,
    listSize: webhook.listSize,
    withText: webhook.withText,
    state: WEBHOOK_STATE[webhook.state],
    pausedFor: webhook.pausedFor === undefined ? null : PAUSED_FOR[webhook.pausedFor],
    createdTime: formatMinute(webhook.created),
    failingSince: webhook.failingSince === undefined ? null : formatMinute(webhook.failingSince),
    previousSecretUntil: untilOf(webhook, now),
  })

function untilOf(webhook: Webhook, now: Instant): string | null {
  const until = previousUntil(webhook)
  return until !== undefined && until > now ? formatMinute(until) : null
}

export const waitingJson = ({ events, lists, dead }: ShownWebhook['backlog']): string =>
  `{"events":${events},"lists":${lists},"deadLists":${dead}}`

/** The id in a path of 1 to 16 digits. */
export const idOf = (parameter: string | undefined): WebhookId | 'no-such-webhook' =>
  webhookId(Number(parameter)) ?? 'no-such-webhook'

/** Also where it belongs to another account (P-10). */
export const noSuchWebhook = failure('no-such-webhook', 'There is no webhook with this id.')

export const tooManyWebhooks = failure('too-many-webhooks', `An account has at most ${webhooksMax} webhooks.`)

/** A refusal of core in words; `asked` is the body. */
export function refused(refusal: WebhookRefusal, asked: { readonly url?: string | undefined }): Failure {
  if (refusal === 'no-events')
    return failure('field-invalid', 'events must name at least one event; got an empty array.')
  if (refusal === 'unknown-event') return failure('field-invalid', `events must be of ${webhookEventTypes.join(', ')}.`)
  if (refusal === 'list-size-out-of-range')
    return failure('field-invalid', `listSize must be a whole number from 1 to ${listSizeMax}.`)
  return failure('invalid-url', `url must be ${URL_RULE[refusal]}; got ${given(asked.url)}.`)
}

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
