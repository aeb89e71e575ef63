import { basicCredentials, formCallback, formOf, jsonAnswer, messageOf } from './provider.ts'
import type { ProviderFormat, ProviderRefusal } from './provider.ts'

/** Status and text of each refusal; the body is plain text. */
const errors = {
  'invalid-number': [400, 'Invalid to number'],
  'opted-out': [400, 'Recipient is blocked'],
  throttled: [429, 'Too many requests'],
  'no-credit': [403, 'Not enough credits'],
  unauthorized: [401, 'API access requires Basic HTTP authentication'],
  malformed: [400, 'Missing key to'],
} as const satisfies Record<ProviderRefusal, readonly [number, string]>

export const elks46: ProviderFormat = {
  secrets: {},
  serves: ({ method, path }) => method === 'POST' && path === '/a1/sms',
  credentials: (request) => basicCredentials(request, 'user', 'password'),
  read: (request) => {
    const { to, from, message: text, whendelivered: callback } = formOf(request)
    return messageOf({ to, from, text, callback })
  },
  accepted: ({ id, to, from, text }) =>
    jsonAnswer(200, {
      id,
      status: 'created',
      from,
      to: `+${to}`,
      parts: 1,
      cost: 3500,
      direction: 'outgoing',
      message: text,
    }),
  refused: (refusal) => {
    const [status, body] = errors[refusal]
    return { status, headers: { 'content-type': 'text/plain' }, body }
  },
  receipt: ({ id }, state, url) => {
    const delivered = state === 'delivered' ? { delivered: '2026-01-01T10:00:00.000000' } : {}
    return formCallback(url, { id, status: state === 'delivered' ? 'delivered' : 'failed', ...delivered })
  },
  reply: ({ id, from, to, text }, url) =>
    formCallback(url, { direction: 'incoming', id, from: `+${from}`, to: `+${to}`, message: text }),
}
