import { Type } from 'typebox'
import { failure } from '../answer.ts'
import { get, nothing, type Operation, post } from '../operation.ts'
import {
  NewWebhook,
  readNewWebhook,
  refused,
  Secret,
  tooManyWebhooks,
  WebhookAnswer,
  webhookExample,
  webhookJson,
} from '../webhook-fields.ts'

const listed: Operation = {
  id: 'listWebhooks',
  tag: 'Webhooks',
  summary: 'Webhooks',
  description: 'The webhooks of the account, the oldest first. An account has at most 10.',
  answer: { webhooks: Type.Array(WebhookAnswer, { description: 'The webhooks, the oldest first.' }) },
  examples: {
    'one webhook': {
      answer: {
        webhooks: [webhookExample],
      },
    },
  },
}

/** Lists the webhooks of the account. */
export const webhooks = get(listed, nothing, async ({ gateway, account, now }) => {
  const all = await gateway.queries.listWebhooks(account)
  return `"webhooks":[${all.map((webhook) => webhookJson(webhook, now)).join()}]`
})

const added: Operation = {
  id: 'addWebhook',
  tag: 'Webhooks',
  summary: 'Add a webhook',
  description:
    'Events are pushed to the webhook from now on. Without `events` it gets all events except `message.sent`. Without `withText` the events do not carry ' +
    'the texts of messages. The response has the secret with which requests to the webhook are signed. It is shown only here.',
  body: NewWebhook,
  answer: { webhook: WebhookAnswer, secret: Secret },
  examples: {
    'all events': {
      body: { url: 'https://shop.example.com/sms-events' },
      answer: {
        webhook: {
          ...webhookExample,
          id: 2,
          url: 'https://shop.example.com/sms-events',
          events: [
            'message.delivered',
            'message.failed',
            'message.unknown',
            'reply.received',
            'shortcode.received',
            'optout.added',
            'optout.removed',
          ],
          withText: false,
          failingSince: null,
        },
        secret: 'whsec_MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDI=',
      },
    },
    'unknown event': {
      body: { url: 'https://shop.example.com/sms-events', events: ['reply.received', 'reply'] },
      answer: failure(
        'field-invalid',
        'events.1 must be one of message.delivered, message.failed, message.unknown, message.sent, reply.received, ' +
          'shortcode.received, optout.added, optout.removed; got "reply".',
      ),
    },
    'plain http': {
      body: { url: 'http://shop.example.com/sms-events' },
      answer: failure('invalid-url', 'url must be a URL with https; got "http://shop.example.com/sms-events".'),
    },
  },
}

export const addWebhook = post(
  added,
  readNewWebhook,
  async ({ gateway, account, now }, newWebhook) => {
    const made = await gateway.commands.addWebhook(account, newWebhook)
    if (made === 'too-many') return tooManyWebhooks
    // The account was deleted after its key was checked.
    if (made === 'no-such-account') throw new Error(`there is no account ${account.id}`)
    if (typeof made === 'string') return refused(made, newWebhook)
    return `"webhook":${webhookJson(made.webhook, now)},"secret":"${made.secret}"`
  },
  { slow: true },
)
