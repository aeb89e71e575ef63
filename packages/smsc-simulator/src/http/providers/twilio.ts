import { createHmac } from 'node:crypto'
import { basicCredentials, formCallback, formOf, jsonAnswer, messageOf, secretOf, withHeaders } from './provider.ts'
import type { ProviderFormat, ProviderRefusal } from './provider.ts'

/** Status, code and text of each refusal (Twilio: Error and Warning Dictionary). */
const errors = {
  'invalid-number': [400, 21_211, "Invalid 'To' Phone Number"],
  'opted-out': [400, 21_610, 'Attempt to send to unsubscribed recipient'],
  throttled: [429, 20_429, 'Too Many Requests'],
  'no-credit': [400, 30_002, 'Account suspended'],
  unauthorized: [401, 20_003, 'Authenticate'],
  malformed: [400, 21_602, 'Message body is required'],
} as const satisfies Record<ProviderRefusal, readonly [number, number, string]>

const states = {
  delivered: 'delivered',
  undelivered: 'undelivered',
  expired: 'undelivered',
  rejected: 'failed',
} as const
const codes = { delivered: undefined, undelivered: '30003', expired: '30036', rejected: '30007' } as const

const path = /^\/2010-04-01\/Accounts\/[^/]+\/Messages\.json$/

export const twilio: ProviderFormat = {
  secrets: {},
  serves: (request) => request.method === 'POST' && path.test(request.path),
  credentials: (request) => {
    const found = basicCredentials(request, 'sid', 'token')
    return found !== undefined && request.path.split('/')[3] === found['sid'] ? found : undefined
  },
  read: (request) => {
    const { To: to, From: from, Body: text, StatusCallback: callback } = formOf(request)
    return messageOf({ to, from, text, callback })
  },
  accepted: ({ id, to, from, text, credentials }) =>
    jsonAnswer(201, {
      ...{ sid: `SM${id}`, account_sid: credentials['sid'], to: `+${to}`, from, body: text, status: 'queued' },
      ...{ num_segments: '1', price: '-0.00750', price_unit: 'USD', error_code: null, error_message: null },
    }),
  refused: (refusal) => {
    const [status, code, message] = errors[refusal]
    const headers = refusal === 'throttled' ? { 'retry-after': '1' } : {}
    return jsonAnswer(
      status,
      { code, message, status, more_info: `https://www.twilio.com/docs/errors/${code}` },
      headers,
    )
  },
  receipt: ({ id, to, from, credentials }, state, url) =>
    formCallback(url, {
      ...{ AccountSid: credentials['sid'] ?? '', ApiVersion: '2010-04-01', From: from, To: `+${to}` },
      ...{ MessageSid: `SM${id}`, SmsSid: `SM${id}`, MessageStatus: states[state], SmsStatus: states[state] },
      ...(codes[state] !== undefined && { ErrorCode: codes[state] }),
    }),
  reply: ({ id, from, to, text }, url) =>
    formCallback(url, {
      ...{ MessageSid: `SM${id}`, SmsSid: `SM${id}`, SmsStatus: 'received', NumSegments: '1', NumMedia: '0' },
      ...{ From: `+${from}`, To: `+${to}`, Body: text },
    }),
  // The URL, followed by each parameter's name and value in the order of the names (Twilio: Webhooks security).
  sign: (callback, secrets) => {
    const fields = [...new URLSearchParams(callback.body)].sort(([a], [b]) => (a < b ? -1 : 1))
    const signed = callback.url + fields.map(([name, value]) => `${name}${value}`).join('')
    const signature = createHmac('sha1', secretOf(secrets, 'token')).update(signed).digest('base64')
    return withHeaders(callback, { 'x-twilio-signature': signature })
  },
}
