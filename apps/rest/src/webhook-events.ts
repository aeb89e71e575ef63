import { listSizeMax, webhookEventTypes, type WebhookEventType } from '@gateway/core/webhooks'
import { Type, type TProperties, type TSchema } from 'typebox'
import { statusProperties } from './message-status.ts'
import { answerObject, MessageIdNumber, Minute, MobileNumber, orNull } from './operation.ts'

type Json = Readonly<Record<string, unknown>>

const utc = (description: string) =>
  Type.String({ description: `${description} RFC 3339 in UTC.`, format: 'date-time' })

const messageText = Type.Optional(
  Type.String({ description: 'The text, if the webhook asks for it and it is still stored.' }),
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
  outgoingApiMessageId: orNull(MessageIdNumber, 'The message that it answers; null if there is none.'),
})

const ofShortCode = answerObject('ShortCodeEventData', {
  incomingApiMessageId: MessageIdNumber,
  ...arrived,
  shortCode: Type.String({ description: 'The short or long code that it was sent to.' }),
})

const ofOptOut = answerObject('OptOutEventData', {
  incomingApiMessageId: orNull(MessageIdNumber, 'The message that asked for it; null if it was done by hand.'),
  ...arrived,
  outgoingApiMessageId: orNull(MessageIdNumber, 'The message that it answers; null if there is none.'),
})

const ofTest = answerObject('TestEventData', {})

interface Told {
  readonly when: string
  readonly data: TSchema
  /** An event of it: its id, sequence, and what is peculiar to its data. */
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

/** Every event by its type, in the order of docs/interfaces/webhooks.md. */
const EVENTS = {
  'message.delivered': {
    when: 'The recipient has the message.',
    data: ofMessage,
    example: [
      'message-374-4',
      4,
      status({ statusDelivered: true, statusErrorCode: '', status: 'DELIVERED', statusCode: 0 }),
    ],
  },
  'message.failed': {
    when: 'It ended in another way: the codes 101 to 103, 107, 111 and 2xx.',
    data: ofMessage,
    example: ['message-374-4', 4, status({ statusErrorCode: 'FAILED', status: 'SENDINGFAILED', statusCode: 103 })],
  },
  'message.unknown': {
    when: 'Nobody can tell whether a carrier took it, or the carrier does not know (106).',
    data: ofMessage,
    example: ['message-374-1', 1, status({ statusCode: 106 })],
  },
  'message.sent': {
    when: 'A carrier took it (100). Only if it is asked for.',
    data: ofMessage,
    example: ['message-374-2', 2, status({})],
  },
  'reply.received': {
    when: 'Somebody answered a message.',
    data: ofReply,
    example: [
      'inbound-12',
      1,
      { incomingApiMessageId: 12, ...arrival, outgoingApiMessageId: 374, messageText: 'Yes, thank you' },
    ],
  },
  'shortcode.received': {
    when: 'Somebody wrote to a code of the account.',
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
  test: { when: 'It was asked for.', data: ofTest, example: ['test-2', 1, {}] },
} as const satisfies Record<WebhookEventType | 'test', Told>

type EventType = keyof typeof EVENTS

/** Every type of event that can come, `test` last. */
export const pushedEventTypes: readonly EventType[] = [...webhookEventTypes, 'test']

/** `message.delivered`: `MessageDeliveredEvent`. */
const titleOf = (type: EventType): string =>
  `${type.replace(/(^|\.)(.)/g, (_, _dot, letter: string) => letter.toUpperCase())}Event`

function eventSchema(type: EventType): TSchema {
  const fields: TProperties = {
    id: Type.String({ description: 'The event, the same however often it is pushed.', maxLength: 64 }),
    type: Type.Literal(type, { description: 'The name of the event.' }),
    sequence: Type.Integer({ description: 'Of one message, a later state has a higher number.', minimum: 1 }),
    occurredAt: utc('When it happened.'),
    data: EVENTS[type].data,
  }
  return Type.Object(fields, { title: titleOf(type), description: EVENTS[type].when })
}

const references = Object.fromEntries(pushedEventTypes.map((type) => [type, `#/components/schemas/${titleOf(type)}`]))

/** The body of a request to a webhook, as `wire:webhook-body.ts` writes it. */
const EventList = answerObject('EventList', {
  type: Type.Literal('events', { description: 'What the request carries.' }),
  timestamp: utc('When this try was made.'),
  data: answerObject('Events', {
    events: Type.Array(
      Type.Unsafe<object>({
        oneOf: pushedEventTypes.map(eventSchema),
        discriminator: { propertyName: 'type', mapping: references },
      }),
      { description: 'What happened, in this order.', minItems: 1, maxItems: listSizeMax },
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

/** The `webhooks` of the OpenAPI document: the requests that the gateway makes (docs/interfaces/webhooks.md). */
export const webhookRequests: Json = {
  events: {
    post: {
      operationId: 'receiveEvents',
      tags: ['Webhooks'],
      summary: 'Events',
      description:
        'What the gateway pushes to the URL of a webhook, signed by Standard Webhooks 1.0. One request has a list of events, ' +
        'which stays the same over all tries. New events and new fields may be added: ignore what you do not know.',
      security: [],
      parameters: [
        header('webhook-id', 'The list of events, the same over all its tries.'),
        header('webhook-timestamp', 'When this try was made, in seconds since 1970.', { type: 'integer' }),
        header('webhook-signature', 'One or more signatures `v1,<base64>` with spaces between them.'),
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
        '2XX': { description: 'The list was taken. It does not come again.' },
        410: { description: 'The webhook is disabled, and nothing more is pushed to it.' },
        default: { description: 'The list is pushed again later, up to 12 times in all.' },
      },
    },
  },
}
