import { formCallback, formOf, jsonAnswer, jsonCallback, messageOf, type ProviderFormat } from './provider.ts'
import type { ProviderMessage, ProviderRefusal } from './provider.ts'

/** Status of each refusal, which comes with HTTP 200 (Vonage: SMS API, troubleshooting). */
const statuses = {
  'invalid-number': ['3', 'Invalid value for parameter: to'],
  'opted-out': ['7', 'Number barred'],
  throttled: ['1', 'Throughput Rate Exceeded - please wait [ 1000 ] and retry'],
  'no-credit': ['9', 'Partner quota exceeded'],
  unauthorized: ['4', 'Bad Credentials'],
  malformed: ['2', 'Missing to param'],
} as const satisfies Record<ProviderRefusal, readonly [string, string]>

const states = { delivered: 'delivered', undelivered: 'failed', expired: 'expired', rejected: 'rejected' } as const
const codes = { delivered: '0', undelivered: '1', expired: '1', rejected: '7' } as const

/** Characters of a text that is sent alone, and of a part, in the GSM alphabet and in UCS-2 (3GPP 23.038, 23.040). */
const room = { gsm: { alone: 160, part: 153 }, unicode: { alone: 70, part: 67 } } as const

/** Returns the parts of a text. The first one has the id of the message. */
function partsOf(message: ProviderMessage): readonly ProviderMessage[] {
  const { text, id, isUnicode = false } = message
  const { alone, part } = isUnicode ? room.unicode : room.gsm
  const escaped = isUnicode ? 0 : (text.match(/[\f^{}\\[~\]|€]/g) ?? []).length
  const length = text.length + escaped
  const count = length <= alone ? 1 : Math.ceil(length / part)
  return Array.from({ length: count }, (_, at) => ({ ...message, id: at === 0 ? id : `${id}-${at + 1}` }))
}

export const vonage: ProviderFormat = {
  secrets: {},
  serves: ({ method, path }) => method === 'POST' && path === '/sms/json',
  credentials: (request) => {
    const { api_key: key, api_secret: secret } = formOf(request)
    return key === undefined || secret === undefined ? undefined : { key, secret }
  },
  read: (request) => {
    const { to, from, text, callback, 'client-ref': ownId, type } = formOf(request)
    const message = messageOf({ to, from, text, callback, ownId })
    return message && { ...message, isUnicode: type === 'unicode' }
  },
  accepted: (message) => {
    const parts = partsOf(message)
    return jsonAnswer(200, {
      'message-count': String(parts.length),
      messages: parts.map(({ id, to, ownId }) => ({
        ...{ to, 'message-id': id, status: '0', 'remaining-balance': '3.14159265', 'message-price': '0.03330000' },
        ...{ network: '65501', ...(ownId !== undefined && { 'client-ref': ownId }) },
      })),
    })
  },
  partsOf,
  refused: (refusal) => {
    const [status, text] = statuses[refusal]
    return jsonAnswer(200, { 'message-count': '1', messages: [{ status, 'error-text': text }] })
  },
  receipt: ({ id, to, from, ownId }, state, url) =>
    jsonCallback(url, {
      ...{ msisdn: to, to: from, 'network-code': '65501', messageId: id, price: '0.03330000', status: states[state] },
      ...{ scts: '2001011400', 'err-code': codes[state], ...(ownId !== undefined && { 'client-ref': ownId }) },
    }),
  reply: ({ id, from, to, text }, url) => {
    const type = Buffer.byteLength(text) === text.length ? 'text' : 'unicode'
    return formCallback(url, { msisdn: from, to, messageId: id, text, type, keyword: text.split(' ')[0] ?? '' })
  },
}
