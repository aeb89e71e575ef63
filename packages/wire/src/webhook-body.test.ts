import { credits } from '@gateway/core/credits'
import type { InboundMessageId } from '@gateway/core/inbox'
import { OUTCOME, type MessageId, type Msisdn, type SenderAddress } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import {
  eventIdsOf,
  eventTypeOf,
  type MessageEvents,
  type WebhookEvent,
  type WebhookEventData,
  type WebhookEventId,
} from '@gateway/core/webhooks'
import { eventsOf } from '@gateway/core/testing'
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
  staysCharged: true,
  text: undefined,
} as const

const textOf = (groups: Parameters<typeof webhookBody>[0]): string => Buffer.from(webhookBody(groups, now)).toString()
const written = (...events: WebhookEvent[]): unknown => JSON.parse(textOf(events))

test('a list of events is one object with its type, the time of the try, and the events in their order', () => {
  expect(textOf([event(message, 2), event({ type: 'test' })])).toBe(
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
  expect(textOf(groups)).toBe(textOf(oneByOne))
})

test.each<[string, object, object]>([
  ['sequence', { sequence: 3 }, {}],
  ['time', { occurred: now }, {}],
  ['type', {}, { type: 'message.unknown' }],
  ['code', {}, { code: OUTCOME.sent }],
  ['cost', {}, { cost: credits(20) }],
  ['carrier', {}, { staysCharged: false, code: OUTCOME.expired }],
  ['text', {}, { text: 'Hi' }],
])('lists that follow each other and differ in their %s are written each as it is', (_what, of, shared) => {
  const { message: id, number, ...common } = { ...message, code: OUTCOME.expired }
  const list = (group: object, differing: object): readonly MessageEvents[] => [
    { sequence: 4, occurred, shared: { ...common, ...differing }, messages: [id], numbers: [number], ...group },
  ]
  for (const groups of [list({}, {}), list(of, shared), list({}, {})]) {
    expect(textOf(groups)).toBe(textOf(eventsOf({ groups })))
    expect(eventIdsOf({ groups })).toEqual(eventsOf({ groups }).map(({ id }) => id))
  }
})

/**
 * Generates runs of consecutive ids around a power of ten, and lists of arbitrary ids, so that the number of digits
 * changes within a list.
 */
const ids = fc.oneof(
  fc
    .record({ at: fc.constantFrom(0, 1, 2, 5, 9, 10, 15), count: fc.integer({ min: 1, max: 40 }) })
    .map(({ at, count }) => Array.from({ length: count }, (_, i) => Math.max(1, 10 ** at - 20 + i))),
  fc.array(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), { minLength: 1, maxLength: 30 }),
)
const digitsOf = fc.oneof(
  fc.constant('27825550101'),
  fc.stringMatching(/^[1-9][0-9]{10,11}$/),
  fc.stringMatching(/^[1-9][0-9]{0,14}$/),
)

test('the largest ids are written digit by digit, too', () => {
  const largest = Array.from({ length: 10 }, (_, i) => Number.MAX_SAFE_INTEGER - i)
  const messages = largest as readonly number[] as readonly MessageId[]
  const numbers = messages.map((_id, i) => `2782555000${i}` as Msisdn)
  const shared = { type: 'message.delivered', code: 0, cost: credits(1), staysCharged: true, text: undefined } as const
  const groups = [{ sequence: 4, occurred: instant(0), shared, messages, numbers }]
  expect(textOf(groups)).toBe(textOf(eventsOf({ groups })))
})

test('any messages that come together are written as they are one by one', () => {
  const { message: _, number: __, ...shared } = message
  const group = fc
    .tuple(
      ids,
      fc.array(digitsOf, { minLength: 40, maxLength: 40 }),
      fc.boolean(),
      fc.option(fc.string({ unit: 'binary' })),
    )
    .map(([ids, drawn, isAlike, text]) => ({
      sequence: 4,
      occurred,
      shared: { ...shared, text: text ?? undefined },
      messages: ids as readonly number[] as readonly MessageId[],
      numbers: ids.map((_id, i) => (isAlike ? `2782555${1000 + i}` : drawn[i]) as Msisdn),
    }))
  fc.assert(
    fc.property(fc.array(group, { minLength: 1, maxLength: 4 }), fc.boolean(), (together, hasOther) => {
      const groups = hasOther ? [event({ type: 'test' }), ...together, event(message)] : together
      expect(textOf(groups)).toBe(textOf(eventsOf({ groups })))
    }),
  )
})

const arrived = { inbound: 7 as InboundMessageId, answers: 374 as MessageId, text: 'Yes "please"\n\ud800' } as const
const received = { incomingApiMessageId: 7, mobileNumber: '27825550101', receiveTime: '202610181000' }

test.each<[string, WebhookEventData, object]>([
  [
    'a message that was refunded',
    { ...message, type: 'message.failed', code: OUTCOME.expired, cost: credits(0), staysCharged: false },
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

test('any text and any sender number can be read back from the JSON', () => {
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
  const silent = Object.values(OUTCOME).filter((code) => eventTypeOf(code) === undefined)
  expect(silent).toEqual([OUTCOME.underWay])
})
