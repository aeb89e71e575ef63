import { formCallback, formOf, jsonAnswer, jsonCallback, messageOf, type ProviderFormat } from './provider.ts'
import type { ProviderRefusal } from './provider.ts'

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

export const vonage: ProviderFormat = {
  secrets: {},
  serves: ({ method, path }) => method === 'POST' && path === '/sms/json',
  credentials: (request) => {
    const { api_key: key, api_secret: secret } = formOf(request)
    return key === undefined || secret === undefined ? undefined : { key, secret }
  },
  read: (request) => {
    const { to, from, text, callback, 'client-ref': ownId } = formOf(request)
    return messageOf({ to, from, text, callback, ownId })
  },
  accepted: ({ id, to, ownId }) =>
    jsonAnswer(200, {
      'message-count': '1',
      messages: [
        {
          ...{ to, 'message-id': id, status: '0', 'remaining-balance': '3.14159265', 'message-price': '0.03330000' },
          ...{ network: '65501', ...(ownId !== undefined && { 'client-ref': ownId }) },
        },
      ],
    }),
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
