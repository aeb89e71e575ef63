import { createHash, createHmac, randomUUID } from 'node:crypto'
import { formCallback, headerCredentials, jsonAnswer, jsonOf, memberOf, messageOf } from './provider.ts'
import { secretOf, withHeaders, type ProviderFormat, type ProviderRefusal } from './provider.ts'

/** Status, code and text of each refusal (MessageBird: API errors). */
const errors = {
  'invalid-number': [422, 9, 'no (correct) recipients found'],
  'opted-out': [422, 9, 'no (correct) recipients found'],
  throttled: [429, 101, 'too many requests'],
  'no-credit': [402, 25, 'Not enough balance'],
  unauthorized: [401, 2, 'Request not allowed (incorrect access_key)'],
  malformed: [422, 9, 'missing params'],
} as const satisfies Record<ProviderRefusal, readonly [number, number, string]>

const states = {
  delivered: ['delivered', '0'],
  undelivered: ['delivery_failed', '103'],
  expired: ['expired', '0'],
  rejected: ['delivery_failed', '106'],
} as const

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

export const messagebird: ProviderFormat = {
  secrets: { signing: 'simulated-signing-secret' },
  serves: ({ method, path }) => method === 'POST' && path === '/messages',
  credentials: (request) => headerCredentials(request, 'authorization', 'AccessKey', 'key'),
  read: (request) => {
    const document = jsonOf(request)
    const { originator: from, body: text, reference: ownId, reportUrl: callback } = document
    return messageOf({ to: memberOf(document, 'recipients', 0), from, text, ownId, callback })
  },
  accepted: ({ id, to, from, text, ownId }) =>
    jsonAnswer(201, {
      ...{ id, href: `https://rest.messagebird.com/messages/${id}`, direction: 'mt', type: 'sms', originator: from },
      ...{ body: text, reference: ownId ?? null },
      recipients: { totalCount: 1, totalSentCount: 1, items: [{ recipient: Number(to), status: 'sent' }] },
    }),
  refused: (refusal) => {
    const [status, code, description] = errors[refusal]
    return jsonAnswer(status, { errors: [{ code, description, parameter: null }] })
  },
  receipt: ({ id, to, ownId }, state, url) => {
    const [status, error] = states[state]
    const fields = { id, recipient: to, status, statusErrorCode: error, statusDatetime: '2026-01-01T10:00:00Z' }
    const query = new URLSearchParams({ ...fields, ...(ownId !== undefined && { reference: ownId }) })
    return { method: 'GET', url: `${url}${url.includes('?') ? '&' : '?'}${query.toString()}`, headers: {}, body: '' }
  },
  reply: ({ id, from, to, text }, url) =>
    formCallback(url, { id, originator: from, recipient: to, body: text, createdDatetime: '2026-01-01T10:00:00Z' }),
  // A JWT with HS256 whose claims are hashes of the URL and of the body (MessageBird: Verify HTTP requests).
  sign: (callback, secrets, now) => {
    const seconds = Math.floor(now / 1000)
    const claims = {
      ...{ iss: 'MessageBird', iat: seconds, nbf: seconds - 1, exp: seconds + 60, jti: randomUUID() },
      url_hash: sha256(callback.url),
      ...(callback.body !== '' && { payload_hash: sha256(callback.body) }),
    }
    const signed = `${base64url({ alg: 'HS256', typ: 'JWT' })}.${base64url(claims)}`
    const signature = createHmac('sha256', secretOf(secrets, 'signing')).update(signed).digest('base64url')
    return withHeaders(callback, { 'messagebird-signature-jwt': `${signed}.${signature}` })
  },
}
