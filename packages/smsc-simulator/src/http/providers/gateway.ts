import { createHmac } from 'node:crypto'
import { headerCredentials, jsonAnswer, jsonCallback, jsonOf, memberOf, messageOf } from './provider.ts'
import { secretOf, withHeaders, type ProviderFormat } from './provider.ts'

const states = {
  delivered: ['message.delivered', 0, ''],
  undelivered: ['message.failed', 103, 'FAILED'],
  expired: ['message.failed', 101, 'EXPIRED'],
  rejected: ['message.failed', 107, 'REJECTED'],
} as const

/** Errors of `acceptError` that the provider reports with HTTP status 200. */
const acceptErrors = {
  'invalid-number': 'BADDEST',
  'opted-out': 'OPTEDOUT',
  'no-credit': 'INSUFFICIENT CREDITS',
} as const

/** Returns the number of an id, because messages of this provider have whole numbers as ids. */
const numberOf = (id: string): number => parseInt(id.slice(-11), 16)

const listOf = (id: string, type: string, data: object): object => ({
  ...{ type: 'events', timestamp: '2026-01-01T10:00:00.000Z' },
  data: { events: [{ id: `${type}-${id}`, type, sequence: 1, data }] },
})

const recipient = (fields: object): object => ({
  ...{ timeStamp: '20260101100000000', version: '1.0', statusCode: 200 },
  recipients: [{ clientMessageId: null, scheduledTime: null, creditCost: 1, newCreditBalance: 99, ...fields }],
})

/** Another gateway of this kind: its REST interface and its webhooks. */
export const gateway: ProviderFormat = {
  secrets: { signing: 'whsec_c2ltdWxhdGVkLXNpZ25pbmctc2VjcmV0LW9mLXRlc3Q=' },
  serves: ({ method, path }) => method === 'POST' && path === '/api/rest/v1/sms/outgoing/send',
  credentials: (request) => headerCredentials(request, 'authorization', '', 'key'),
  read: (request) => {
    const document = jsonOf(request)
    const first = memberOf(document, 'recipients', 0)
    const { message: text, sender: from } = document
    return messageOf({ to: memberOf(first, 'mobileNumber'), text, from, ownId: memberOf(first, 'reference') })
  },
  accepted: ({ id, to }) =>
    jsonAnswer(200, recipient({ mobileNumber: to, accepted: true, acceptError: '', apiMessageId: numberOf(id) })),
  repeated: ({ id, to }) =>
    jsonAnswer(200, recipient({ mobileNumber: to, accepted: true, acceptError: '', apiMessageId: numberOf(id) })),
  refused: (refusal, message) => {
    switch (refusal) {
      case 'throttled':
        return jsonAnswer(429, { statusCode: 429, errorCode: 'too-many-requests' }, { 'retry-after': '1' })
      case 'unauthorized':
        return jsonAnswer(401, { statusCode: 401, errorCode: 'unauthorized' })
      case 'malformed':
        return jsonAnswer(422, { statusCode: 422, errorCode: 'blank-message' })
      case 'invalid-number':
      case 'opted-out':
      case 'no-credit': {
        const refused = { accepted: false, acceptError: acceptErrors[refusal], apiMessageId: null }
        return jsonAnswer(200, recipient({ mobileNumber: message?.to, ...refused }))
      }
    }
  },
  receipt: ({ id, to, ownId }, state, url) => {
    const [type, statusCode, statusErrorCode] = states[state]
    const data = { apiMessageId: numberOf(id), mobileNumber: to, statusDelivered: statusCode === 0, statusErrorCode }
    return jsonCallback(
      url,
      listOf(id, type, { ...data, statusCode, ...(ownId !== undefined && { reference: ownId }) }),
    )
  },
  reply: ({ id, from, to, text }, url) => {
    const data = { incomingApiMessageId: numberOf(id), mobileNumber: from, shortCode: to, messageText: text }
    return jsonCallback(url, listOf(id, 'reply.received', data))
  },
  // Standard Webhooks: id, timestamp and body, joined by points.
  sign: (callback, secrets, now) => {
    const { body } = callback
    const id = `list-${createHmac('sha256', 'id').update(body).digest('hex').slice(0, 12)}`
    const timestamp = String(Math.floor(now / 1000))
    const key = Buffer.from(secretOf(secrets, 'signing').replace(/^whsec_/, ''), 'base64')
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
    return withHeaders(callback, {
      ...{ 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
    })
  },
}
