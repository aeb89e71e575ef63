import { listSizeMax, webhookEventTypes, type WebhookEventType } from '@gateway/core/webhooks'
import { Type, type TProperties, type TSchema } from 'typebox'
import { statusProperties } from './message-status.ts'
import { answerObject, MessageIdNumber, Minute, MobileNumber, orNull } from './operation.ts'

type Json = Readonly<Record<string, unknown>>

const utc = (description: string) =>
  Type.String({ description: `${description} RFC 3339 in UTC.`, format: 'date-time' })

const messageText = Type.Optional(
  Type.String({ description: 'The text, if the webhook has requested texts and it is still stored.' }),
)

const ofMessage = answerObject('MessageEventData', { ...statusProperties, messageText })

const arrived = {
  mobileNumber: MobileNumber,
  receiveTime: Minute,
  messageText,
}

const ofReply = answerObject('ReplyEventData', {
  incomingApiMessageId: MessageIdNumber,
  ...arrived,
  outgoingApiMessageId: orNull(MessageIdNumber, 'The id of the message that was answered, or null.'),
})

const ofShortCode = answerObject('ShortCodeEventData', {
  incomingApiMessageId: MessageIdNumber,
  ...arrived,
  shortCode: Type.String({ description: 'The short or long code to which the message was sent.' }),
})

const ofOptOut = answerObject('OptOutEventData', {
  incomingApiMessageId: orNull(
    MessageIdNumber,
    'The id of the message that requested the change, or null if it was made by hand.',
  ),
  ...arrived,
  outgoingApiMessageId: orNull(MessageIdNumber, 'The id of the message that was answered, or null.'),
})

const ofTest = answerObject('TestEventData', {})

interface EventDescription {
  readonly when: string
  readonly data: TSchema
  /** Example event: id, sequence, and the fields that only this type has. */
  readonly example: readonly [id: string, sequence: number, data: Json]
}

const status = (more: Json): Json => ({
  apiMessageId: 374,
  mobileNumber: '27825550101',
  statusDelivered: false,
  statusErrorCode: 'SENT',
  statusTime: '202610181000',
  creditCost: 1,
  status: 'SENT',
  statusCode: 100,
  ...more,
})

const arrival = { mobileNumber: '27825550101', receiveTime: '202610181000' }

/** All events by type, in the order of docs/interfaces/webhooks.md. */
const EVENTS = {
  'message.delivered': {
    when: 'The recipient has received the message.',
    data: ofMessage,
    example: [
      'message-374-4',
      4,
      status({ statusDelivered: true, statusErrorCode: '', status: 'DELIVERED', statusCode: 0 }),
    ],
  },
  'message.failed': {
    when: 'The message failed: the codes 101 to 103, 107, 111 and 2xx.',
    data: ofMessage,
    example: ['message-374-4', 4, status({ statusErrorCode: 'FAILED', status: 'SENDINGFAILED', statusCode: 103 })],
  },
  'message.unknown': {
    when: 'It is unknown whether a carrier accepted the message, or the carrier does not know its state (106).',
    data: ofMessage,
    example: ['message-374-1', 1, status({ statusCode: 106 })],
  },
  'message.sent': {
    when: 'A carrier accepted the message (100). Sent only if the webhook subscribes to it.',
    data: ofMessage,
    example: ['message-374-2', 2, status({})],
  },
  'reply.received': {
    when: 'A person replied to a message.',
    data: ofReply,
    example: [
      'inbound-12',
      1,
      { incomingApiMessageId: 12, ...arrival, outgoingApiMessageId: 374, messageText: 'Yes, thank you' },
    ],
  },
  'shortcode.received': {
    when: 'A person wrote to a code of the account.',
    data: ofShortCode,
    example: ['inbound-13', 1, { incomingApiMessageId: 13, ...arrival, shortCode: '40404', messageText: 'WIN' }],
  },
  'optout.added': {
    when: 'A number opted out, or was added by hand.',
    data: ofOptOut,
    example: [
      'optout-added-14',
      1,
      { incomingApiMessageId: 14, ...arrival, outgoingApiMessageId: 374, messageText: 'STOP' },
    ],
  },
  'optout.removed': {
    when: 'A number opted in again, or was removed by hand.',
    data: ofOptOut,
    example: [
      'optout-removed-27825550101-1792310401500',
      1,
      { incomingApiMessageId: null, ...arrival, outgoingApiMessageId: null },
    ],
  },
  test: { when: 'A test was requested.', data: ofTest, example: ['test-2', 1, {}] },
} as const satisfies Record<WebhookEventType | 'test', EventDescription>

type EventType = keyof typeof EVENTS

/** All types of events that can be pushed, `test` last. */
export const pushedEventTypes: readonly EventType[] = [...webhookEventTypes, 'test']

/** Returns the schema title of a type, such as `MessageDeliveredEvent` for `message.delivered`. */
const titleOf = (type: EventType): string =>
  `${type.replace(/(^|\.)(.)/g, (_, _dot, letter: string) => letter.toUpperCase())}Event`

function eventSchema(type: EventType): TSchema {
  const fields: TProperties = {
    id: Type.String({ description: 'The id of the event, which is the same each time it is pushed.', maxLength: 64 }),
    type: Type.Literal(type, { description: 'The name of the event.' }),
    sequence: Type.Integer({ description: 'A later state of the same message has a higher number.', minimum: 1 }),
    occurredAt: utc('The time of the event.'),
    data: EVENTS[type].data,
  }
  return Type.Object(fields, { title: titleOf(type), description: EVENTS[type].when })
}

const references = Object.fromEntries(pushedEventTypes.map((type) => [type, `#/components/schemas/${titleOf(type)}`]))

/** Schema of the body of a request to a webhook, as `webhookBody` of `@gateway/wire` writes it. */
const EventList = answerObject('EventList', {
  type: Type.Literal('events', { description: 'The kind of the request.' }),
  timestamp: utc('The time of this try.'),
  data: answerObject('Events', {
    events: Type.Array(
      Type.Unsafe<object>({
        oneOf: pushedEventTypes.map(eventSchema),
        discriminator: { propertyName: 'type', mapping: references },
      }),
      { description: 'The events, in order.', minItems: 1, maxItems: listSizeMax },
    ),
  }),
})

const exampleOf = (type: EventType): Json => {
  const [id, sequence, data] = EVENTS[type].example
  const event = { id, type, sequence, occurredAt: '2026-10-18T08:00:01.500Z', data }
  return { value: { type: 'events', timestamp: '2026-10-18T08:00:02.007Z', data: { events: [event] } } }
}

const header = (name: string, description: string, schema: Json = { type: 'string' }): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  schema,
})

/** Section `webhooks` of the OpenAPI document: the requests that the gateway makes (docs/interfaces/webhooks.md). */
export const webhookRequests: Json = {
  events: {
    post: {
      operationId: 'receiveEvents',
      tags: ['Webhooks'],
      summary: 'Events',
      description:
        'The request that the gateway makes to the URL of a webhook, signed according to Standard Webhooks 1.0. One request has a list of events, ' +
        'which stays the same for all tries. New events and new fields may be added: ignore what you do not know.',
      security: [],
      parameters: [
        header('webhook-id', 'The id of the list of events, which is the same for all tries.'),
        header('webhook-timestamp', 'The time of this try, in seconds since 1970.', { type: 'integer' }),
        header('webhook-signature', 'One or more signatures `v1,<base64>`, separated by spaces.'),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: EventList,
            examples: Object.fromEntries(pushedEventTypes.map((type) => [type, exampleOf(type)])),
          },
        },
      },
      responses: {
        '2XX': { description: 'The list was accepted and is not pushed again.' },
        410: { description: 'The webhook is disabled, and nothing more is pushed to it.' },
        default: { description: 'The list is pushed again later, up to 12 times in all.' },
      },
    },
  },
}
