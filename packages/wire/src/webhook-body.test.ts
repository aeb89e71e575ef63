import {
  credits,
  eventsOf,
  eventTypeOf,
  instant,
  OUTCOME,
  type InboundMessageId,
  type MessageEvents,
  type MessageId,
  type Msisdn,
  type SenderAddress,
  type WebhookEvent,
  type WebhookEventData,
  type WebhookEventId,
} from '@gateway/core'
import fc from 'fast-check'
import { webhookBody } from './webhook-body.ts'

const occurred = instant(Date.parse('2026-10-18T08:00:01.500Z'))
const now = instant(Date.parse('2026-10-18T08:00:02.007Z'))

const event = (data: WebhookEventData, sequence = 1): WebhookEvent => ({
  id: 'evt_1' as WebhookEventId,
  sequence,
  occurred,
  data,
})

const message = {
  type: 'message.delivered',
  message: 374 as MessageId,
  number: '27825550101' as Msisdn,
  code: OUTCOME.delivered,
  cost: credits(10),
  taken: true,
  text: undefined,
} as const

const written = (...events: WebhookEvent[]): unknown => JSON.parse(webhookBody(events, now))

test('a list of events is one object with its type, the time of the try, and the events in their order', () => {
  expect(webhookBody([event(message, 2), event({ type: 'test' })], now)).toBe(
    '{"type":"events","timestamp":"2026-10-18T08:00:02.007Z","data":{"events":[' +
      '{"id":"evt_1","type":"message.delivered","sequence":2,"occurredAt":"2026-10-18T08:00:01.500Z","data":{' +
      '"apiMessageId":374,"mobileNumber":"27825550101","statusDelivered":true,"statusErrorCode":"",' +
      '"statusTime":"202610181000","creditCost":1.0,"status":"DELIVERED","statusCode":0}},' +
      '{"id":"evt_1","type":"test","sequence":1,"occurredAt":"2026-10-18T08:00:01.500Z","data":{}}]}}',
  )
})

test('messages that come together are written as they are one by one', () => {
  const { message: id, number, ...shared } = { ...message, text: 'Grüße "€"' }
  const together = {
    sequence: 4,
    occurred,
    shared,
    messages: [id, 9007199254740991 as MessageId],
    numbers: [number, '4471' as Msisdn],
  }
  const groups = [event({ type: 'test' }), together, event(message)]
  const oneByOne = eventsOf({ groups })
  expect(oneByOne.map(({ id }) => id)).toEqual(['evt_1', 'message-374-4', 'message-9007199254740991-4', 'evt_1'])
  expect(webhookBody(groups, now)).toBe(webhookBody(oneByOne, now))
})

test.each<[string, object, object]>([
  ['sequence', { sequence: 3 }, {}],
  ['time', { occurred: now }, {}],
  ['type', {}, { type: 'message.unknown' }],
  ['code', {}, { code: OUTCOME.sent }],
  ['cost', {}, { cost: credits(20) }],
  ['carrier', {}, { taken: false, code: OUTCOME.expired }],
  ['text', {}, { text: 'Hi' }],
])('lists that follow each other and differ in their %s are written each as it is', (_what, of, shared) => {
  const { message: id, number, ...common } = { ...message, code: OUTCOME.expired }
  const list = (group: object, differing: object): readonly MessageEvents[] => [
    { sequence: 4, occurred, shared: { ...common, ...differing }, messages: [id], numbers: [number], ...group },
  ]
  for (const groups of [list({}, {}), list(of, shared), list({}, {})])
    expect(webhookBody(groups, now)).toBe(webhookBody(eventsOf({ groups }), now))
})

const arrived = { inbound: 7 as InboundMessageId, answers: 374 as MessageId, text: 'Yes "please"\n\ud800' } as const
const received = { incomingApiMessageId: 7, mobileNumber: '27825550101', receiveTime: '202610181000' }

test.each<[string, WebhookEventData, object]>([
  [
    'a message that was refunded',
    { ...message, type: 'message.failed', code: OUTCOME.expired, cost: credits(0), taken: false },
    {
      apiMessageId: 374,
      mobileNumber: '27825550101',
      statusDelivered: false,
      statusErrorCode: 'SENDINGFAILED',
      statusTime: '202610181000',
      creditCost: 0,
      status: 'SENDINGFAILED',
      statusCode: 101,
    },
  ],
  [
    'a message with its text',
    { ...message, type: 'message.unknown', code: OUTCOME.unknown, text: 'Hi' },
    {
      apiMessageId: 374,
      mobileNumber: '27825550101',
      statusDelivered: false,
      statusErrorCode: 'SENT',
      statusTime: '202610181000',
      creditCost: 1,
      status: 'SENT',
      statusCode: 106,
      messageText: 'Hi',
    },
  ],
  [
    'a reply',
    { type: 'reply.received', from: '27825550101', shortCode: undefined, ...arrived },
    { ...received, outgoingApiMessageId: 374, messageText: arrived.text },
  ],
  [
    'a reply without its text, to no message',
    {
      type: 'reply.received',
      from: '27825550101',
      shortCode: undefined,
      ...arrived,
      answers: undefined,
      text: undefined,
    },
    { ...received, outgoingApiMessageId: null },
  ],
  [
    'a short code message',
    { type: 'shortcode.received', from: '27825550101', shortCode: '40404' as SenderAddress, ...arrived },
    { ...received, shortCode: '40404', messageText: arrived.text },
  ],
  [
    'an opt-out by text',
    { type: 'optout.added', number: '27825550101' as Msisdn, ...arrived, text: 'STOP' },
    { ...received, outgoingApiMessageId: 374, messageText: 'STOP' },
  ],
  [
    'an opt-out by hand',
    { type: 'optout.added', number: '27825550101' as Msisdn, inbound: undefined, answers: undefined, text: undefined },
    { ...received, incomingApiMessageId: null, outgoingApiMessageId: null },
  ],
  [
    'an opt-in by hand',
    {
      type: 'optout.removed',
      number: '27825550101' as Msisdn,
      inbound: undefined,
      answers: undefined,
      text: undefined,
    },
    { ...received, incomingApiMessageId: null, outgoingApiMessageId: null },
  ],
])('%s has the fields of the list of REST', (_what, data, fields) => {
  expect(written(event(data))).toMatchObject({ data: { events: [{ type: data.type }] } })
  expect((written(event(data)) as { data: { events: [{ data: object }] } }).data.events[0].data).toEqual(fields)
})

test('any text and any number of whoever wrote come back from JSON', () => {
  const unit = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\0', '\ud800', '"', '\\', '\u2028'))
  fc.assert(
    fc.property(unit, unit, (from, text) => {
      const data = { type: 'reply.received', from, shortCode: undefined, ...arrived, text } as const
      expect(written(event(data))).toMatchObject({
        data: { events: [{ data: { mobileNumber: from, messageText: text } }] },
      })
    }),
  )
})

test('every code that ends a message, or leaves it unknown, has an event', () => {
  const told = Object.values(OUTCOME).filter((code) => eventTypeOf(code) === undefined)
  expect(told).toEqual([OUTCOME.underWay])
})
