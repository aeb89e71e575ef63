import type { Case } from '../../case.ts'
import { expectEqual, expectRest, expectRestError, restBody } from '../../expectations.ts'
import type { TestedGateway } from '../../tested-gateway.ts'
import { farAhead, minuteFromNow } from '../../times.ts'
import { balance, fill, literal, price, send, untilCode, type Recipient } from '../../verbs.ts'

const path = '/sms/outgoing/send'
const multi = '/sms/outgoing/sendmulti'

/** Returns a valid body of a send far ahead, with `fields` replaced. */
const bodyWith = (gateway: TestedGateway, fields: object): object => ({
  message: 'Conformance',
  recipients: [{ mobileNumber: gateway.number }],
  scheduledTime: farAhead(),
  ...fields,
})

async function accepted(gateway: TestedGateway, fields: object): Promise<readonly Recipient[]> {
  const answer = await gateway.rest(path, { body: bodyWith(gateway, fields) })
  const { recipients } = restBody<{ recipients: Recipient[] }>(answer)
  gateway.leave(
    gateway.main,
    recipients.filter((one) => one.accepted).map((one) => one.apiMessageId),
  )
  return recipients
}

const refusedBodies: readonly (readonly [title: string, names: RegExp, fields: object])[] = [
  ['message missing', /message/, { message: undefined }],
  ['message null', /message/, { message: null }],
  ['message a number', /message/, { message: 5 }],
  ['message blank', /message/, { message: '' }],
  ['message of white space', /message/, { message: ' \n\t ' }],
  ['message with U+0000', /message/, { message: 'a\0b' }],
  ['message with a lone surrogate', /message/, { message: 'a\ud800b' }],
  ['recipients missing', /recipients/, { recipients: undefined }],
  ['recipients null', /recipients/, { recipients: null }],
  ['recipients empty', /recipients/, { recipients: [] }],
  ['recipients an object', /recipients/, { recipients: { mobileNumber: '27825550101' } }],
  ['recipients a string', /recipients/, { recipients: '27825550101' }],
  ['a recipient that is a string', /recipients/, { recipients: ['27825550101'] }],
  ['mobileNumber missing', /recipients/, { recipients: [{}] }],
  ['mobileNumber a number', /recipients.*mobileNumber/, { recipients: [{ mobileNumber: 27825550101 }] }],
  ['mobileNumber null', /recipients.*mobileNumber/, { recipients: [{ mobileNumber: null }] }],
  [
    'a clientMessageId that is a number',
    /clientMessageId/,
    { recipients: [{ mobileNumber: '27825550101', clientMessageId: 5 }] },
  ],
  [
    'a clientMessageId with U+0000',
    /clientMessageId/,
    { recipients: [{ mobileNumber: '27825550101', clientMessageId: '\0' }] },
  ],
  [
    'a clientMessageId with a lone surrogate',
    /clientMessageId/,
    { recipients: [{ mobileNumber: '27825550101', clientMessageId: '\udc00' }] },
  ],
  [
    'a second recipient that is wrong',
    /recipients/,
    { recipients: [{ mobileNumber: '27825550101' }, { mobileNumber: 1 }] },
  ],
  ['scheduledTime 30 February', /scheduledTime/, { scheduledTime: '202602301200' }],
  ['scheduledTime with a separator', /scheduledTime/, { scheduledTime: '2026-10-10 12:00' }],
  ['scheduledTime with seconds', /scheduledTime/, { scheduledTime: '20261010120000' }],
  ['scheduledTime hour 24', /scheduledTime/, { scheduledTime: '202610102400' }],
  ['scheduledTime an object', /scheduledTime/, { scheduledTime: {} }],
  ['maxSegments 0', /maxSegments/, { maxSegments: 0 }],
  ['maxSegments 7', /maxSegments/, { maxSegments: 7 }],
  ['maxSegments 1.5', /maxSegments/, { maxSegments: 1.5 }],
  ['maxSegments a string', /maxSegments/, { maxSegments: '2' }],
  ['validityMinutes 0', /validityMinutes/, { validityMinutes: 0 }],
  ['validityMinutes 4321', /validityMinutes/, { validityMinutes: 4321 }],
  ['validityMinutes 1.5', /validityMinutes/, { validityMinutes: 1.5 }],
  ['priority 4', /priority/, { priority: 4 }],
  ['flash a string', /flash/, { flash: 'true' }],
  ['validityMinutes a string', /validityMinutes/, { validityMinutes: '60' }],
]

export const sendCases: readonly Case[] = [
  {
    of: ['2.4', '1.10', 'spec 7.1', 'spec 2', '1.1'],
    title: '422 for each wrong body, whose message names the field; nothing is charged',
    alone: 'sub',
    run: async (gateway) => {
      const { sub } = gateway
      const before = await fill(gateway, 5)
      for (const [title, names, fields] of refusedBodies) {
        const answer = await gateway.rest(path, { by: sub, body: bodyWith(gateway, fields) })
        expectEqual(answer.status, 422, `${title}: ${answer.text}`)
        expectRestError(answer, 422, names)
      }
      for (const body of ['[]', '5', 'null', '"text"'])
        expectRestError(await gateway.rest(path, { by: sub, body }), 422)
      expectEqual(await balance(gateway, sub), before)
    },
  },
  {
    of: ['2.4'],
    title: 'null and blank options count as missing, and unknown fields are ignored',
    run: async (gateway) => {
      for (const fields of [
        { maxSegments: null },
        { maxSegments: '' },
        { validityMinutes: null },
        { validityMinutes: ' ' },
        { unknown: { deep: [null, {}] }, anyOther: 1 },
        { recipients: [{ mobileNumber: gateway.number, clientMessageId: null, more: 'x' }] },
        { recipients: [{ mobileNumber: gateway.number, clientMessageId: ' ' }] },
      ]) {
        const [one] = await accepted(gateway, fields)
        expectEqual(one?.accepted, true, JSON.stringify(fields))
      }
    },
  },
  {
    of: ['2.4'],
    title: 'scheduledTime may be a string or a number',
    run: async (gateway) => {
      const time = farAhead()
      for (const scheduledTime of [time, Number(time)]) {
        const answer = await gateway.rest(path, { body: bodyWith(gateway, { scheduledTime }) })
        const [one] = restBody<{ recipients: { apiMessageId: number; scheduledTime: string }[] }>(answer).recipients
        gateway.leave(gateway.main, [one?.apiMessageId ?? 0])
        expectEqual(one?.scheduledTime, time)
      }
    },
  },
  {
    of: ['2.4', '1.1', 'spec 3'],
    title: 'a time that is past, null or blank sends at once: scheduledTime is null',
    parts: 3,
    run: async (gateway) => {
      for (const scheduledTime of [minuteFromNow(-2), null, '']) {
        const answer = await gateway.rest(path, { body: bodyWith(gateway, { scheduledTime }) })
        expectRest(answer, /"accepted":true,"acceptError":"","apiMessageId":\d+,"scheduledTime":null,/)
      }
    },
  },
  {
    of: ['2.4', '1.5', '1.6'],
    title: 'maxSegments refuses a text that needs more parts, and 6 has no effect',
    run: async (gateway) => {
      const [twoParts, sevenParts] = ['x'.repeat(161), `${'x'.repeat(152)}€`.repeat(5) + 'x'.repeat(148)]
      const error = async (message: string, maxSegments?: number) =>
        (await accepted(gateway, { message, maxSegments }))[0]?.acceptError
      expectEqual(await error(twoParts, 1), 'TOOLONG')
      expectEqual(await error(twoParts, 2), '')
      expectEqual(await error(twoParts), '')
      expectEqual(
        [await error(sevenParts, 5), await error(sevenParts, 6), await error(sevenParts)],
        ['TOOLONG', '', ''],
      )
    },
  },
  {
    of: ['2.4', 'spec 7.1'],
    title: 'a body that is not UTF-8 is 400',
    run: async (gateway) => {
      const json = `{"message":"caf\xe9","recipients":[{"mobileNumber":"${gateway.number}"}],"scheduledTime":"${farAhead()}"}`
      expectRestError(await gateway.rest(path, { body: Buffer.from(json, 'latin1') }), 400)
    },
  },
  {
    of: ['2.5', '1.3', 'spec 4.1', '1.2', '1.11'],
    title:
      'the answer byte for byte: recipients in request order, echoed ids, refusals without cost, the balance after each',
    alone: 'sub',
    run: async (gateway) => {
      const { sub, number } = gateway
      const time = farAhead()
      const [before, cost] = [await fill(gateway, 5), price(gateway)]
      const recipients = [
        { mobileNumber: number, clientMessageId: 'a-1 "ü€😀' },
        { mobileNumber: '123' },
        { mobileNumber: ` ${number} `, clientMessageId: '' },
      ]
      const answer = await gateway.rest(path, { by: sub, body: { message: 'Hello', recipients, scheduledTime: time } })
      const ids = Array.from(answer.text.matchAll(/"apiMessageId":(\d+)/g), ([, id]) => Number(id))
      gateway.leave(sub, ids)
      const [first = 0, second = 0] = ids
      const element = (id: string, to: string, costs: string, balanceAfter: string) =>
        `{"clientMessageId":${id},"mobileNumber":"${to}",${costs},"newCreditBalance":${balanceAfter}}`
      const sold = (id: number) =>
        `"accepted":true,"acceptError":"","apiMessageId":${id},"scheduledTime":"${time}","creditCost":${literal(cost)}`
      const refused = `"accepted":false,"acceptError":"BADDEST","apiMessageId":null,"scheduledTime":null,"creditCost":0.0`
      expectRest(
        answer,
        `,"recipients":[${[
          element('"a-1 \\"ü€😀"', number, sold(first), literal(before - cost)),
          element('null', '123', refused, literal(before - cost)),
          element('null', number, sold(second), literal(before - 2 * cost)),
        ].join()}]`,
      )
      expectEqual(await balance(gateway, sub), before - 2 * cost)
    },
  },
  {
    of: ['2.4', 'spec 8', 'spec 4.1', '1.9'],
    title: '1000 recipients are accepted, with an id each; 1001 are 422 and nothing is sent',
    alone: 'sub',
    run: async (gateway) => {
      const { sub, number } = gateway
      const before = await fill(gateway, Math.ceil((1000 * price(gateway)) / 10) + 5)
      const to = (count: number) => Array.from({ length: count }, () => number)
      const sent = await send(gateway, { by: sub, numbers: to(1000) })
      expectEqual(new Set(sent.map((one) => one.apiMessageId)).size, 1000)
      expectEqual(await balance(gateway, sub), before - 1000 * price(gateway))
      const body = bodyWith(gateway, { recipients: to(1001).map((mobileNumber) => ({ mobileNumber })) })
      expectRestError(await gateway.rest(path, { by: sub, body }), 422, /recipients/)
      expectEqual(await balance(gateway, sub), before - 1000 * price(gateway))
    },
  },
  {
    of: ['2.6', '1.11'],
    title:
      'sendmulti answers each text with its recipients, byte for byte, and spends in request order over all of them',
    alone: 'sub',
    run: async (gateway) => {
      const { sub, number } = gateway
      const time = farAhead()
      const [before, cost] = [await fill(gateway, 5), price(gateway)]
      const one = { message: 'one "1"', recipients: [{ mobileNumber: number }], scheduledTime: time }
      const two = {
        message: 'zwei ü',
        recipients: [{ mobileNumber: number, clientMessageId: 'b' }],
        scheduledTime: time,
      }
      const answer = await gateway.rest(multi, { by: sub, body: { messages: [one, two], unknown: true } })
      const ids = Array.from(answer.text.matchAll(/"apiMessageId":(\d+)/g), ([, id]) => Number(id))
      gateway.leave(sub, ids)
      const element = (client: string, id: number, balanceAfter: number) =>
        `{"clientMessageId":${client},"mobileNumber":"${number}","accepted":true,"acceptError":"","apiMessageId":${id},` +
        `"scheduledTime":"${time}","creditCost":${literal(cost)},"newCreditBalance":${literal(balanceAfter)}}`
      const [first = 0, second = 0] = ids
      expectRest(
        answer,
        `,"messages":[{"message":"one \\"1\\"","recipients":[${element('null', first, before - cost)}]},` +
          `{"message":"zwei ü","recipients":[${element('"b"', second, before - 2 * cost)}]}]`,
      )
    },
  },
  {
    of: ['2.6', 'spec 8'],
    title: 'sendmulti: 1001 recipients in all, no messages, or one wrong text are 422 for the whole request',
    alone: 'sub',
    run: async (gateway) => {
      const { sub } = gateway
      const before = await fill(gateway, 5)
      const text = (count: number) =>
        bodyWith(gateway, { recipients: Array.from({ length: count }, () => ({ mobileNumber: gateway.number })) })
      for (const body of [
        { messages: [text(500), text(501)] },
        { messages: [] },
        { messages: {} },
        {},
        { messages: [text(1), bodyWith(gateway, { message: '' })] },
        { messages: [text(1), bodyWith(gateway, { scheduledTime: 'soon' })] },
      ])
        expectRestError(await gateway.rest(multi, { by: sub, body }), 422)
      expectEqual(await balance(gateway, sub), before)
    },
  },
  {
    of: ['2.6', '2.4'],
    title: 'sendmulti: each text has its own time, and its own limit of parts',
    run: async (gateway) => {
      const time = farAhead()
      const other = `${time.slice(0, 10)}${time.endsWith('30') ? '31' : '30'}`
      const text = (fields: object) => bodyWith(gateway, { message: 'x'.repeat(161), ...fields })
      const messages = [
        text({ scheduledTime: time, maxSegments: 1 }),
        text({ scheduledTime: time }),
        text({ scheduledTime: other }),
      ]
      const answer = restBody<{ messages: { recipients: (Recipient & { scheduledTime: string | null })[] }[] }>(
        await gateway.rest(multi, { body: { messages } }),
      )
      const results = answer.messages.flatMap(({ recipients }) => recipients)
      gateway.leave(
        gateway.main,
        results.filter((one) => one.accepted).map((one) => one.apiMessageId),
      )
      expectEqual(
        results.map(({ acceptError, scheduledTime }) => [acceptError, scheduledTime]),
        [
          ['TOOLONG', null],
          ['', time],
          ['', other],
        ],
      )
    },
  },
  {
    of: ['2.7', 'spec 3', '1.16'],
    title: 'a delivered message is DELIVERED 0, with its number, cost and the time of its delivery',
    parts: 1,
    run: async (gateway) => {
      const [earliest, number] = [minuteFromNow(-1), gateway.number]
      const [sent] = await send(gateway, { numbers: [number], scheduledTime: null })
      const id = sent?.apiMessageId ?? 0
      const { statusTime } = await untilCode(gateway, id, 0)
      expectEqual(statusTime >= earliest && statusTime <= minuteFromNow(1), true, statusTime)
      expectRest(
        await gateway.rest('/sms/outgoing/status', { body: [id] }),
        `,"messageStatuses":[{"apiMessageId":${id},"mobileNumber":"${number}","statusDelivered":true,"statusErrorCode":"",` +
          `"statusTime":"${statusTime}","creditCost":${literal(price(gateway))},"status":"DELIVERED","statusCode":0}]`,
      )
      const deleted = await gateway.rest('/sms/scheduled/delete', { body: [id] })
      expectRest(
        deleted,
        `,"deletedMessageStatuses":[{"apiMessageId":${id},"mobileNumber":"${number}","deleted":false,"deleteError":"SENT","creditCost":0.0}]`,
      )
    },
  },
]
