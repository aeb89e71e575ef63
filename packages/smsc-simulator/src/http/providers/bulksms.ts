import { basicCredentials, jsonAnswer, jsonCallback, jsonOf, messageOf } from './provider.ts'
import type { ProviderFormat, ProviderMessage, ProviderRefusal } from './provider.ts'

const errors = {
  'invalid-number': [400, 'bad-request', 'Bad Request'],
  'opted-out': [400, 'bad-request', 'Bad Request'],
  throttled: [429, 'too-many-requests', 'Too Many Requests'],
  'no-credit': [403, 'no-credits', 'Insufficient credits'],
  unauthorized: [401, 'authentication-failed', 'Unauthorized'],
  malformed: [400, 'bad-request', 'Bad Request'],
} as const satisfies Record<ProviderRefusal, readonly [number, string, string]>

const states = {
  delivered: { id: 'DELIVERED', type: 'DELIVERED', subtype: null },
  undelivered: { id: 'FAILED.HANDSET_ERROR', type: 'FAILED', subtype: 'HANDSET_ERROR' },
  expired: { id: 'FAILED.EXPIRED', type: 'FAILED', subtype: 'EXPIRED' },
  rejected: { id: 'FAILED.BLOCKED', type: 'FAILED', subtype: 'BLOCKED' },
} as const

const sent = ({ id, to, from, text, ownId }: ProviderMessage, status: object): object => ({
  ...{ id, type: 'SENT', from, to, body: text, encoding: 'TEXT', status, creditCost: 1, numberOfParts: 1 },
  userSuppliedId: ownId ?? null,
})

const accepted = (message: ProviderMessage) =>
  jsonAnswer(201, [sent(message, { id: 'ACCEPTED', type: 'ACCEPTED', subtype: null })])

export const bulksms: ProviderFormat = {
  secrets: {},
  serves: ({ method, path }) => method === 'POST' && path === '/v1/messages',
  credentials: (request) => basicCredentials(request, 'id', 'token'),
  read: (request) => {
    const { to, from, body: text, userSuppliedId: ownId } = jsonOf(request)
    const isNumber = /^\d{1,10}$/.test(request.query.get('deduplication-id') ?? '0')
    return isNumber ? messageOf({ to, from, text, ownId }) : undefined
  },
  accepted,
  // A repetition with the same deduplication-id gets the same answer.
  repeated: accepted,
  refused: (refusal) => {
    const [status, type, title] = errors[refusal]
    return jsonAnswer(status, { type: `https://developer.bulksms.com/json/v1/errors#${type}`, title, status })
  },
  receipt: (message, state, url) => jsonCallback(url, [sent(message, states[state])]),
  reply: ({ id, from, to, text }, url) => jsonCallback(url, [{ id, type: 'RECEIVED', from, to, body: text }]),
}
