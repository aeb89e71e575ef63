import { createHmac, randomUUID } from 'node:crypto'
import { headerCredentials, jsonAnswer, jsonCallback, jsonOf, memberOf, messageOf } from './provider.ts'
import { secretOf, withHeaders, type ProviderFormat, type ProviderRefusal } from './provider.ts'

const errors = {
  'invalid-number': [400, 'syntax_invalid_parameter_format', 'to: invalid number'],
  'opted-out': [400, 'syntax_invalid_parameter_format', 'to: the recipient has opted out'],
  throttled: [429, 'too_many_requests', 'Too many requests'],
  'no-credit': [402, 'payment_required', 'Not enough credit'],
  unauthorized: [401, 'unauthorized', 'Unauthorized'],
  malformed: [400, 'syntax_constraint_violation', 'to or body is missing'],
} as const satisfies Record<ProviderRefusal, readonly [number, string, string]>

const states = {
  delivered: ['Delivered', 0],
  undelivered: ['Failed', 402],
  expired: ['Expired', 406],
  rejected: ['Rejected', 403],
} as const

export const sinch: ProviderFormat = {
  secrets: { signing: 'simulated-signing-secret' },
  serves: ({ method, path }) => method === 'POST' && /^\/xms\/v1\/[^/]+\/batches$/.test(path),
  credentials: (request) => headerCredentials(request, 'authorization', 'Bearer', 'token'),
  read: (request) => {
    const document = jsonOf(request)
    const { from, body: text, client_reference: ownId, callback_url: callback } = document
    return messageOf({ to: memberOf(document, 'to', 0), from, text, ownId, callback })
  },
  accepted: ({ id, to, from, text, ownId }) =>
    jsonAnswer(201, {
      ...{ id, to: [to], from, canceled: false, body: text, type: 'mt_text', delivery_report: 'per_recipient' },
      ...(ownId !== undefined && { client_reference: ownId }),
    }),
  refused: (refusal) => {
    const [status, code, text] = errors[refusal]
    return jsonAnswer(status, { code, text })
  },
  receipt: ({ id, to, ownId }, state, url) => {
    const [status, code] = states[state]
    return jsonCallback(url, {
      ...{ type: 'recipient_delivery_report_sms', batch_id: id, recipient: to, code, status },
      ...(ownId !== undefined && { client_reference: ownId }),
    })
  },
  reply: ({ id, from, to, text }, url) => jsonCallback(url, { type: 'mo_text', id, from, to, body: text }),
  // Body, nonce and timestamp, joined by points (Sinch: Webhook signatures).
  sign: (callback, secrets, now) => {
    const nonce = randomUUID()
    const timestamp = String(Math.floor(now / 1000))
    const signature = createHmac('sha256', secretOf(secrets, 'signing'))
      .update(`${callback.body}.${nonce}.${timestamp}`)
      .digest('base64')
    return withHeaders(callback, {
      'x-sinch-webhook-signature': signature,
      'x-sinch-webhook-signature-nonce': nonce,
      'x-sinch-webhook-signature-timestamp': timestamp,
      'x-sinch-webhook-signature-algorithm': 'HmacSHA256',
    })
  },
}
