import { formatMinute, type Instant } from '@gateway/core/time'
import {
  listSizeMax,
  previousUntil,
  type ShownWebhook,
  type WebhookSettings,
  type Webhook,
  type WebhookChange,
  webhookEventTypes,
  webhookId,
  type WebhookId,
  type WebhookRefusal,
  webhooksMax,
} from '@gateway/core/webhooks'
import { PAUSED_FOR, URL_RULE, WEBHOOK_STATE } from '@gateway/wire'
import { type Static, Type } from 'typebox'
import { failure, type Failure, isFailure } from './answer.ts'
import { filled, describeValue } from './request.ts'
import { answerObject, Minute, oneOf, orNull, WebhookNumber } from './operation.ts'
import { optional, reader, text } from './schema.ts'

const Events = Type.Array(oneOf(webhookEventTypes, 'The name of an event.'), {
  description: 'The events that are pushed.',
})

/** Webhook that the examples of the OpenAPI document show. */
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

/** Schema of `webhookJson`. */
export const WebhookAnswer = answerObject(
  'Webhook',
  {
    id: WebhookNumber,
    url: Type.String({ description: 'The URL to which events are pushed.' }),
    events: Events,
    listSize: Type.Integer({
      description: 'The maximum number of events in one request.',
      minimum: 1,
      maximum: listSizeMax,
    }),
    withText: Type.Boolean({ description: 'True if events carry the text of messages.' }),
    state: oneOf(
      Object.values(WEBHOOK_STATE),
      'Paused: events are kept. Disabled: the webhook responded with 410, and events are not kept.',
    ),
    pausedFor: orNull(oneOf(Object.values(PAUSED_FOR), 'The reason for the pause.'), 'Null if it is not paused.'),
    createdTime: Minute,
    failingSince: orNull(
      Minute,
      'The time since which no request has succeeded, or null if the last one succeeded. Failed tests do not count.',
    ),
    previousSecretUntil: orNull(Minute, 'The time until which a previous secret signs too, or null if none does.'),
  },
  'A webhook, without its secrets.',
)

/** Schema of `waitingJson`. */
export const WaitingAnswer = answerObject(
  'WaitingEvents',
  {
    events: Type.Integer({ description: 'Events that are not in a list yet.' }),
    lists: Type.Integer({ description: 'Lists that are being retried.' }),
    deadLists: Type.Integer({ description: 'Lists whose tries are exhausted.' }),
  },
  'Events and lists that wait to be pushed to a webhook.',
)

export const Secret = Type.String({
  description: 'The signing secret, `whsec_` and base64. It is shown only here.',
  pattern: '^whsec_[A-Za-z0-9+\\/]{43}=$',
  minLength: 50,
  maxLength: 50,
})

/** Renders a webhook without its secrets. */
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

/** Reads the webhook id of a path, which has 1 to 16 digits. */
export const idOf = (parameter: string | undefined): WebhookId | 'no-such-webhook' =>
  webhookId(Number(parameter)) ?? 'no-such-webhook'

/** Failure for a webhook that does not exist or belongs to another account (P-10). */
export const noSuchWebhook = failure('no-such-webhook', 'There is no webhook with this id.')

export const tooManyWebhooks = failure('too-many-webhooks', `An account has at most ${webhooksMax} webhooks.`)

/** Returns the failure for a refusal of core. `request` is the body of the request. */
export function refused(refusal: WebhookRefusal, request: { readonly url?: string | undefined }): Failure {
  if (refusal === 'no-events')
    return failure('field-invalid', 'events must name at least one event; got an empty array.')
  if (refusal === 'unknown-event')
    return failure('field-invalid', `events must be one or more of ${webhookEventTypes.join(', ')}.`)
  if (refusal === 'list-size-out-of-range')
    return failure('field-invalid', `listSize must be a whole number from 1 to ${listSizeMax}.`)
  return failure('invalid-url', `url must be ${URL_RULE[refusal]}; got ${describeValue(request.url)}.`)
}

const url = {
  expected: 'a URL',
  description:
    'The URL to which events are pushed: a public `https` URL of at most 2048 characters, without user name and password.',
}

const settings = {
  events: optional(Type.Array(oneOf(webhookEventTypes, 'The name of an event.'), { minItems: 1 }), {
    expected: 'an array of one or more names of events',
    description: 'The events to push. Omitted, null or blank: for a new webhook, all except `message.sent`.',
  }),
  listSize: optional(Type.Integer({ minimum: 1, maximum: listSizeMax }), {
    expected: `a whole number from 1 to ${listSizeMax}`,
    description: `The maximum number of events in one request. Omitted, null or blank: for a new webhook, ${listSizeMax}.`,
  }),
  withText: optional(Type.Boolean(), {
    expected: 'true or false',
    description: 'True if events carry the text of messages. Omitted, null or blank: for a new webhook, false.',
  }),
}

/** Body of a POST to `/webhooks`. */
export const NewWebhook = Type.Object(
  { url: text(url), ...settings },
  { title: 'NewWebhook', expected: 'an object', description: 'A webhook to be added.' },
)

/** Body of a PATCH of a webhook. */
export const WebhookChanges = Type.Object(
  {
    url: optional(text(url), url),
    ...settings,
    state: optional(oneOf(['active', 'paused'], 'Whether events are pushed.'), {
      expected: '"active" or "paused"',
      description: 'Active: waiting events are pushed at once. Paused: events are kept for 30 days.',
    }),
  },
  {
    title: 'WebhookChange',
    expected: 'an object',
    description: 'The changes. Fields that are omitted, null or blank stay unchanged.',
  },
)

const readNew = reader(NewWebhook)
const readChanges = reader(WebhookChanges)

/** Reads a `NewWebhook`. Core decides whether the URL may be used. */
export function readNewWebhook(body: unknown): (WebhookSettings & { readonly url: string }) | Failure {
  const read = readBy(readNew, body)
  return isFailure(read) ? read : { url: read.url, ...settingsOf(read) }
}

/** Reads a `WebhookChanges`. Omitted fields stay unchanged. */
export function readWebhookChange(body: unknown): (WebhookSettings & Pick<WebhookChange, 'state'>) | Failure {
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
  // The error of the schema alone does not name the event that is unknown.
  if (place === -1 || !Array.isArray(events) || (typeof before === 'object' && before !== null && !isFailure(before)))
    return before
  return failure(
    'field-invalid',
    `events.${place} must be one of ${webhookEventTypes.join(', ')}; got ${describeValue(events[place])}.`,
  )
}

const names: readonly unknown[] = webhookEventTypes

type Settings = Pick<Static<typeof NewWebhook>, keyof typeof settings>

const settingsOf = ({ events, listSize, withText }: Settings): Omit<WebhookSettings, 'url'> => ({
  events: Array.isArray(events) ? events : undefined,
  listSize: typeof listSize === 'number' ? listSize : undefined,
  withText: typeof withText === 'boolean' ? withText : undefined,
})
