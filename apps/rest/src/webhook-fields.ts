import {
  formatMinute,
  listSizeMax,
  previousUntil,
  webhookEventTypes,
  webhookId,
  webhooksMax,
  type Instant,
  type ShownWebhook,
  type Webhook,
  type WebhookId,
  type WebhookRefusal,
} from '@gateway/core'
import { URL_RULE } from '@gateway/wire'
import { Type } from 'typebox'
import { failure, type Failure } from './answer.ts'
import { given } from './given.ts'
import { answerObject, Minute, oneOf, orNull, WebhookNumber } from './operation.ts'
import { PAUSED_FOR, WEBHOOK_STATE } from './words.ts'

const Events = Type.Array(oneOf(webhookEventTypes, 'The name of an event.'), {
  description: 'The events that are pushed.',
})

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
    failingSince: orNull(Minute, 'Since then no request has succeeded; null if the last one did.'),
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
