import { headerCredentials, jsonAnswer, jsonCallback, jsonOf, memberOf, messageOf } from './provider.ts'
import type { ProviderFormat, ProviderRefusal } from './provider.ts'

/** Group and name of the status of each refusal that comes with HTTP 200 (Infobip: Response status and error codes). */
const rejections = {
  'invalid-number': 'REJECTED_DESTINATION',
  'opted-out': 'REJECTED_DESTINATION',
  'no-credit': 'REJECTED_NOT_ENOUGH_CREDITS',
} as const

const isRejection = (refusal: ProviderRefusal): refusal is keyof typeof rejections => refusal in rejections

const states = {
  delivered: [3, 'DELIVERED', 0],
  undelivered: [2, 'UNDELIVERABLE', 1],
  expired: [4, 'EXPIRED', 0],
  rejected: [5, 'REJECTED', 8],
} as const

export const infobip: ProviderFormat = {
  secrets: {},
  serves: ({ method, path }) => method === 'POST' && path === '/sms/3/messages',
  credentials: (request) => headerCredentials(request, 'authorization', 'App', 'key'),
  read: (request) => {
    const message = memberOf(jsonOf(request), 'messages', 0)
    const destination = memberOf(message, 'destinations', 0)
    return messageOf({
      ...{ to: memberOf(destination, 'to'), ownId: memberOf(destination, 'messageId') },
      ...{ from: memberOf(message, 'sender'), text: memberOf(message, 'content', 'text') },
      callback: memberOf(message, 'webhooks', 'delivery', 'url'),
    })
  },
  accepted: ({ id, to, ownId }) =>
    jsonAnswer(200, {
      bulkId: `bulk-${id}`,
      messages: [
        {
          messageId: ownId ?? id,
          status: { groupId: 1, groupName: 'PENDING', id: 26, name: 'PENDING_ACCEPTED', description: 'Pending' },
          destination: to,
        },
      ],
    }),
  refused: (refusal, message) => {
    if (isRejection(refusal)) {
      const status = { groupId: 5, groupName: 'REJECTED', id: 12, name: rejections[refusal] }
      return jsonAnswer(200, { messages: [{ messageId: message?.ownId, destination: message?.to, status }] })
    }
    if (refusal === 'throttled') return jsonAnswer(429, { errorCode: 'E429', description: 'Too many requests' })
    return refusal === 'unauthorized'
      ? jsonAnswer(401, { errorCode: 'E401', description: 'Invalid login details' })
      : jsonAnswer(400, { errorCode: 'E400', description: 'Request cannot be processed.' })
  },
  receipt: ({ id, to, ownId }, state, url) => {
    const [groupId, groupName, error] = states[state]
    const status = { groupId, groupName, id: groupId, name: groupName }
    const result = { bulkId: `bulk-${id}`, messageId: ownId ?? id, to, status, error: { id: error, permanent: false } }
    return jsonCallback(url, { results: [{ ...result, price: { pricePerMessage: 0.01, currency: 'EUR' } }] })
  },
  reply: ({ id, from, to, text }, url) =>
    jsonCallback(url, {
      results: [{ messageId: id, from, to, text, cleanText: text, smsCount: 1 }],
      ...{ messageCount: 1, pendingMessageCount: 0 },
    }),
}
