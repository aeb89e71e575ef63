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
  description: 'A webhook, and what waits for it.',
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
  const found = id === 'no-such-webhook' ? undefined : await gateway.showWebhook(account, id)
  if (found === undefined) return noSuchWebhook
  return `"webhook":${webhookJson(found.webhook, now)},"waiting":${waitingJson(found.backlog)}`
})

const changed: Operation = {
  id: 'changeWebhook',
  tag: 'Webhooks',
  summary: 'Change a webhook',
  description:
    'What is left out stays as it is. With the state `paused` nothing is pushed to it, and events are kept for 30 days; with `active` ' +
    'it gets what waits at once, also after it was paused because it failed for 5 days, or disabled because it answered 410.',
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
  async ({ gateway, account, parameter, now }, wanted) => {
    const id = idOf(parameter)
    const done = id === 'no-such-webhook' ? id : await gateway.changeWebhook(account, id, wanted)
    if (done === 'no-such-webhook') return noSuchWebhook
    return typeof done === 'string' ? refused(done, wanted) : `"webhook":${webhookJson(done, now)}`
  },
  { method: 'PATCH', slow: true },
)

const removed: Operation = {
  id: 'removeWebhook',
  tag: 'Webhooks',
  summary: 'Remove a webhook',
  description: 'With everything that waits for it, and its attempts.',
  answer: { removed: Type.Literal(true, { description: 'It is removed, with all that waited for it.' }) },
  examples: { removed: { id: 1, answer: { removed: true } } },
}

export const removeWebhook = remove(removed, async ({ gateway, account, parameter }) => {
  const id = idOf(parameter)
  const done = id !== 'no-such-webhook' && (await gateway.removeWebhook(account, id))
  return done ? '"removed":true' : noSuchWebhook
})
