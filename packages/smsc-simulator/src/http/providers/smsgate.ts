import { createHmac } from 'node:crypto'
import { basicCredentials, jsonAnswer, jsonCallback, jsonOf, memberOf, messageOf } from './provider.ts'
import { secretOf, withHeaders, type ProviderFormat, type ProviderRefusal } from './provider.ts'

const errors = {
  'invalid-number': [400, 'invalid phone number'],
  'opted-out': [400, 'invalid phone number'],
  throttled: [429, 'too many requests'],
  'no-credit': [403, 'the device is disabled'],
  unauthorized: [401, 'unauthorized'],
  malformed: [400, 'textMessage and phoneNumbers are required'],
} as const satisfies Record<ProviderRefusal, readonly [number, string]>

const eventOf = (event: string, id: string, payload: object): object => ({
  ...{ deviceId: 'device', event, id: `event-${id}-${event}`, webhookId: 'webhook', payload },
})

export const smsgate: ProviderFormat = {
  secrets: { signing: 'simulated-signing-secret' },
  serves: ({ method, path }) => method === 'POST' && path === '/3rdparty/v1/messages',
  credentials: (request) => basicCredentials(request, 'user', 'password'),
  read: (request) => {
    const document = jsonOf(request)
    const text = memberOf(document, 'textMessage', 'text')
    return messageOf({ to: memberOf(document, 'phoneNumbers', 0), text, ownId: document['id'] })
  },
  accepted: ({ id, ownId, to }) =>
    jsonAnswer(202, {
      ...{ id: ownId ?? id, deviceId: 'device', state: 'Pending', isHashed: false, isEncrypted: false },
      recipients: [{ phoneNumber: `+${to}`, state: 'Pending' }],
    }),
  repeated: () => jsonAnswer(409, { message: 'failed to enqueue message: duplicate id' }),
  refused: (refusal) => {
    const [status, message] = errors[refusal]
    return jsonAnswer(status, { message })
  },
  receipt: ({ id, ownId, to }, state, url) => {
    const payload = { messageId: ownId ?? id, phoneNumber: `+${to}`, simNumber: 1 }
    return jsonCallback(
      url,
      state === 'delivered'
        ? eventOf('sms:delivered', id, { ...payload, deliveredAt: '2026-01-01T10:00:00.000+00:00' })
        : eventOf('sms:failed', id, { ...payload, reason: 'RESULT_ERROR_GENERIC_FAILURE' }),
    )
  },
  // The ids of replies are not unique at SMSGate, but the time of receipt is.
  reply: ({ id, from, to, text }, url) => {
    const receivedAt = new Date(digitsTail(id) || 0).toISOString()
    const payload = {
      messageId: 'abc',
      message: text,
      sender: `+${from}`,
      recipient: `+${to}`,
      simNumber: 1,
      receivedAt,
    }
    return jsonCallback(url, eventOf('sms:received', id, payload))
  },
  // The body, followed by the timestamp (SMSGate: Webhooks).
  sign: (callback, secrets, now) => {
    const timestamp = String(Math.floor(now / 1000))
    const hmac = createHmac('sha256', secretOf(secrets, 'signing')).update(callback.body + timestamp)
    return withHeaders(callback, { 'x-timestamp': timestamp, 'x-signature': hmac.digest('hex') })
  },
}

/** Returns a time that differs for each id, in milliseconds since 1970. */
const digitsTail = (id: string): number => 1_767_000_000_000 + (parseInt(id.slice(-8), 16) % 1_000_000_000)
