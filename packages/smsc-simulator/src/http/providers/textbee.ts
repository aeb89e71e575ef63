import { createHmac } from 'node:crypto'
import { headerCredentials, jsonAnswer, jsonCallback, jsonOf, memberOf, messageOf } from './provider.ts'
import { secretOf, withHeaders, type ProviderFormat, type ProviderRefusal } from './provider.ts'

const errors = {
  'invalid-number': [400, 'Invalid phone number'],
  'opted-out': [400, 'Invalid phone number'],
  throttled: [429, 'Too many requests'],
  'no-credit': [400, 'Device does not exist or is not enabled'],
  unauthorized: [401, 'Unauthorized'],
  malformed: [400, 'Message and recipients are required'],
} as const satisfies Record<ProviderRefusal, readonly [number, string]>

const events = {
  delivered: 'MESSAGE_DELIVERED',
  undelivered: 'MESSAGE_FAILED',
  expired: 'MESSAGE_FAILED',
  rejected: 'MESSAGE_FAILED',
} as const

export const textbee: ProviderFormat = {
  secrets: { signing: 'simulated-signing-secret' },
  serves: ({ method, path }) => method === 'POST' && /^\/api\/v1\/gateway\/devices\/[^/]+\/send-sms$/.test(path),
  credentials: (request) => headerCredentials(request, 'x-api-key', '', 'key'),
  read: (request) => {
    const document = jsonOf(request)
    return messageOf({ to: memberOf(document, 'recipients', 0), text: document['message'] })
  },
  accepted: ({ id }) =>
    jsonAnswer(201, { data: { success: true, message: 'SMS added to queue', smsBatchId: id, recipientCount: 1 } }),
  refused: (refusal) => {
    const [status, error] = errors[refusal]
    return jsonAnswer(status, { success: false, error })
  },
  receipt: ({ id, to }, state, url) =>
    jsonCallback(url, {
      ...{ webhookEvent: events[state], smsBatchId: id, smsId: `sms-${id}`, recipient: `+${to}` },
      ...(state === 'delivered' ? {} : { errorCode: 'GENERIC_FAILURE' }),
    }),
  reply: ({ id, from, text }, url) =>
    jsonCallback(url, { webhookEvent: 'MESSAGE_RECEIVED', smsId: id, sender: `+${from}`, message: text }),
  sign: (callback, secrets) =>
    withHeaders(callback, {
      'x-signature': createHmac('sha256', secretOf(secrets, 'signing')).update(callback.body).digest('hex'),
    }),
}
