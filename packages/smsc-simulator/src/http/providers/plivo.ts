import { createHmac, randomUUID } from 'node:crypto'
import { basicCredentials, formCallback, jsonAnswer, jsonOf, messageOf, secretOf, withHeaders } from './provider.ts'
import type { ProviderFormat, ProviderRefusal } from './provider.ts'

const errors = {
  'invalid-number': [400, 'dst is not a valid phone number'],
  'opted-out': [400, 'dst has opted out'],
  throttled: [429, 'too many requests'],
  'no-credit': [402, 'insufficient credit'],
  unauthorized: [401, 'invalid credentials'],
  malformed: [400, 'dst or text is missing'],
} as const satisfies Record<ProviderRefusal, readonly [number, string]>

const states = {
  delivered: 'delivered',
  undelivered: 'undelivered',
  expired: 'undelivered',
  rejected: 'rejected',
} as const
const codes = { delivered: '000', undelivered: '30', expired: '80', rejected: '200' } as const

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1)

export const plivo: ProviderFormat = {
  secrets: {},
  serves: ({ method, path }) => method === 'POST' && /^\/v1\/Account\/[^/]+\/Message\/$/.test(path),
  credentials: (request) => basicCredentials(request, 'id', 'token'),
  read: (request) => {
    const { src: from, dst: to, text, url: callback } = jsonOf(request)
    return messageOf({ from, to, text, callback })
  },
  accepted: ({ id }) => jsonAnswer(202, { api_id: randomUUID(), message: 'message(s) queued', message_uuid: [id] }),
  refused: (refusal) => {
    const [status, error] = errors[refusal]
    return jsonAnswer(status, { api_id: randomUUID(), error })
  },
  receipt: ({ id, to, from }, state, url) =>
    formCallback(url, {
      ...{ Status: states[state], From: from, To: to, MessageUUID: id, ParentMessageUUID: id, ErrorCode: codes[state] },
      ...{ PartInfo: '1 of 1', Units: '1', TotalRate: '0.0065', TotalAmount: '0.0065', MCC: '655', MNC: '01' },
    }),
  reply: ({ id, from, to, text }, url) =>
    formCallback(url, { Type: 'sms', From: from, To: to, Text: text, MessageUUID: id, Units: '1' }),
  // Version 3: URL, sorted query, sorted parameters and nonce (Plivo: Validating requests).
  sign: (callback, secrets) => {
    const { origin, pathname, searchParams } = new URL(callback.url)
    const query = [...searchParams].sort(byName).map(([name, value]) => `${name}=${value}`)
    const fields = [...new URLSearchParams(callback.body)].sort(byName).map(([name, value]) => name + value)
    const nonce = randomUUID().replaceAll('-', '')
    const signed = `${origin}${pathname}?${query.join('&')}${query.length > 0 ? '.' : ''}${fields.join('')}.${nonce}`
    const signature = createHmac('sha256', secretOf(secrets, 'token')).update(signed).digest('base64')
    return withHeaders(callback, { 'x-plivo-signature-v3': signature, 'x-plivo-signature-v3-nonce': nonce })
  },
}
