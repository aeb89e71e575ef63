import { Type } from 'typebox'
import { failure } from '../../answer.ts'
import { get, nothing, type Operation, post, remove } from '../../operation.ts'
import {
  idOf,
  noSuchWebhook,
  readWebhookChange,
  refused,
  WaitingAnswer,
  waitingJson,
  WebhookAnswer,
  WebhookChanges,
  webhookExample,
  webhookJson,
} from '../../webhook-fields.ts'

const shown: Operation = {
  id: 'getWebhook',
  tag: 'Webhooks',
  summary: 'One webhook',
  description: 'A webhook, and the number of events that wait for it.',
  answer: { webhook: WebhookAnswer, waiting: WaitingAnswer },
  examples: {
    'a test that failed': {
      id: 1,
      answer: { webhook: webhookExample, waiting: { events: 0, lists: 1, deadLists: 0 } },
    },
  },
}

export const webhook = get(shown, nothing, async ({ gateway, account, parameter, now }) => {
  const id = idOf(parameter)
  const found = id === 'no-such-webhook' ? undefined : await gateway.queries.showWebhook(account, id)
  if (found === undefined) return noSuchWebhook
  return `"webhook":${webhookJson(found.webhook, now)},"waiting":${waitingJson(found.backlog)}`
})

const changed: Operation = {
  id: 'changeWebhook',
  tag: 'Webhooks',
  summary: 'Change a webhook',
  description:
    'Omitted fields stay unchanged. With the state `paused` nothing is pushed, and events are kept for 30 days. With `active` ' +
    'waiting events are pushed at once, even if the webhook was paused because it had failed for 5 days, or disabled because it responded with 410.',
  body: WebhookChanges,
  answer: { webhook: WebhookAnswer },
  examples: {
    pause: {
      id: 1,
      body: { state: 'paused' },
      answer: { webhook: { ...webhookExample, state: 'paused', pausedFor: 'by-request' } },
    },
    'one event in a request': { id: 1, body: { listSize: 1 }, answer: { webhook: { ...webhookExample, listSize: 1 } } },
    'list size out of range': {
      id: 1,
      body: { listSize: 0 },
      answer: failure('field-invalid', 'listSize must be a whole number from 1 to 100; got 0.'),
    },
  },
}

export const changeWebhook = post(
  changed,
  readWebhookChange,
  async ({ gateway, account, parameter, now }, changes) => {
    const id = idOf(parameter)
    const done = id === 'no-such-webhook' ? id : await gateway.commands.changeWebhook(account, id, changes)
    if (done === 'no-such-webhook') return noSuchWebhook
    return typeof done === 'string' ? refused(done, changes) : `"webhook":${webhookJson(done, now)}`
  },
  { method: 'PATCH', slow: true },
)

const removed: Operation = {
  id: 'removeWebhook',
  tag: 'Webhooks',
  summary: 'Remove a webhook',
  description: 'Removes a webhook with its waiting events and its attempts.',
  answer: { removed: Type.Literal(true, { description: 'The webhook and its waiting events are removed.' }) },
  examples: { removed: { id: 1, answer: { removed: true } } },
}

export const removeWebhook = remove(removed, async ({ gateway, account, parameter }) => {
  const id = idOf(parameter)
  const done = id !== 'no-such-webhook' && (await gateway.commands.removeWebhook(account, id))
  return done ? '"removed":true' : noSuchWebhook
})
