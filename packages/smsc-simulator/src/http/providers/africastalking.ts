import { formCallback, formOf, headerCredentials, jsonAnswer, messageOf, type ProviderFormat } from './provider.ts'

/** Code and status of each refusal that comes with HTTP 201 (Africa's Talking: SMS sending). */
const statuses = {
  'invalid-number': [403, 'InvalidPhoneNumber'],
  'opted-out': [406, 'UserInBlacklist'],
  'no-credit': [405, 'InsufficientBalance'],
} as const

const states = {
  delivered: 'Success',
  undelivered: 'AbsentSubscriber',
  expired: 'Expired',
  rejected: 'Rejected',
} as const

const answerWith = (recipient: object): object => ({
  SMSMessageData: { Message: 'Sent to 1/1 Total Cost: KES 0.8000', Recipients: [recipient] },
})

export const africastalking: ProviderFormat = {
  secrets: {},
  serves: ({ method, path }) => method === 'POST' && path === '/version1/messaging',
  credentials: (request) => {
    const found = headerCredentials(request, 'apikey', '', 'key')
    const { username } = formOf(request)
    return found === undefined || username === undefined ? undefined : { ...found, username }
  },
  read: (request) => {
    const { to, from, message: text } = formOf(request)
    return messageOf({ to, from, text })
  },
  accepted: ({ id, to }) =>
    jsonAnswer(
      201,
      answerWith({
        statusCode: 101,
        number: `+${to}`,
        status: 'Success',
        cost: 'KES 0.8000',
        messageId: `ATXid_${id}`,
      }),
    ),
  refused: (refusal, message) => {
    switch (refusal) {
      case 'throttled':
        return { status: 429, body: 'Too many requests' }
      case 'unauthorized':
        return { status: 401, body: 'The supplied authentication is invalid' }
      case 'malformed':
        return { status: 400, body: 'Request is missing required form field "to"' }
      case 'invalid-number':
      case 'opted-out':
      case 'no-credit': {
        const [statusCode, status] = statuses[refusal]
        const number = `+${message?.to ?? ''}`
        return jsonAnswer(201, answerWith({ statusCode, number, status, cost: '0', messageId: 'None' }))
      }
    }
  },
  receipt: ({ id, to }, state, url) =>
    formCallback(url, {
      ...{ id: `ATXid_${id}`, status: states[state], phoneNumber: `+${to}`, networkCode: '65501' },
      ...(state === 'delivered' ? {} : { failureReason: 'DeliveryFailure' }),
    }),
  reply: ({ id, from, to, text }, url) =>
    formCallback(url, { id, linkId: id, from: `+${from}`, to, text, date: '2026-01-01T10:00:00Z' }),
}
