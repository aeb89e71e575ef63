import { createProcessing, createGateway } from '@gateway/core'
import { credits } from '@gateway/core/credits'
import type { DeliveryReceiptCode } from '@gateway/core/dispatch'
import { OUTCOME, type MessageStatus, type OutcomeCode } from '@gateway/core/messages'
import { aNumber, anAccount, numbers } from '@gateway/core/testing'
import { carry } from '../../../../testing/carry.ts'
import { startRest, type Rest } from '../../../../testing/start-rest.ts'
import { statusWords } from '@gateway/wire'

let rest: Rest
beforeEach(async () => {
  rest = await startRest()
})
afterEach(() => rest.close())

const path = '/sms/outgoing/status'
const number = '27825550101'
const sendOne = (fields: object = {}) =>
  rest.post('/sms/outgoing/send', { message: 'hello', recipients: [{ mobileNumber: number }], ...fields })
const statusesOf = (answer: { text: string }) => /"messageStatuses":\[(.*)\]\}$/.exec(answer.text)?.[1]
const absent = (id: number, code: number) =>
  `{"apiMessageId":${id},"mobileNumber":"","statusDelivered":false,"statusErrorCode":"NOTFOUND","statusTime":"202610181000","creditCost":0.0,"status":"NOTFOUND","statusCode":${code}}`

test('a delivered message has its number, the minute of its delivery and its cost', async () => {
  await sendOne()
  rest.clock.step(60)
  await carry(rest.ports, 'accepted', OUTCOME.delivered)
  rest.clock.step(3600)
  const answer = await rest.post(path, [1])
  expect(answer.text).toBe(
    '{"timeStamp":"20261018110100000","version":"1.0","statusCode":200,"messageStatuses":[' +
      '{"apiMessageId":1,"mobileNumber":"27825550101","statusDelivered":true,"statusErrorCode":"","statusTime":"202610181001","creditCost":1.0,"status":"DELIVERED","statusCode":0}]}',
  )
})

test('a refused message was refunded: it costs 0.0', async () => {
  await sendOne()
  await carry(rest.ports, 'refused')
  expect(statusesOf(await rest.post(path, [1]))).toBe(
    '{"apiMessageId":1,"mobileNumber":"27825550101","statusDelivered":false,"statusErrorCode":"SENDINGFAILED","statusTime":"202610181000","creditCost":0.0,"status":"SENDINGFAILED","statusCode":111}',
  )
})

const waiting = (id: number, number: string, cost = '1.0') =>
  `{"apiMessageId":${id},"mobileNumber":"${number}","statusDelivered":false,"statusErrorCode":"INQUEUE","statusTime":"202610181000","creditCost":${cost},"status":"NOTFOUND","statusCode":-1}`

test('queued and scheduled are INQUEUE -1 with number and cost; unknown is NOTFOUND -2: no number, 0.0', async () => {
  await sendOne()
  await sendOne({
    scheduledTime: '202701010000',
    message: 'x'.repeat(161),
    recipients: [{ mobileNumber: '27825550102' }],
  })
  expect(statusesOf(await rest.post(path, [1, 2, 3]))).toBe(
    [waiting(1, number), waiting(2, '27825550102', '2.0'), absent(3, -2)].join(),
  )
})

test.each<[string, DeliveryReceiptCode]>([
  ['expired', 101],
  ['cancelled', 102],
  ['undeliverable', 103],
  ['rejected', 107],
  ['failed', 213],
])('what a carrier took and reported as %s is FAILED, and stays charged', async (_what, code) => {
  await sendOne()
  await carry(rest.ports, 'accepted', code)
  expect((await rest.post(path, [1])).body).toMatchObject({
    messageStatuses: [
      { statusDelivered: false, statusErrorCode: 'FAILED', creditCost: 1, status: 'SENDINGFAILED', statusCode: code },
    ],
  })
})

test('what was deleted, or expired in the queue, is SENDINGFAILED, beside one of the same code that a carrier had', async () => {
  await sendOne()
  await carry(rest.ports, 'accepted', 101)
  await sendOne()
  await sendOne({ scheduledTime: '202701010000' })
  await rest.post('/sms/scheduled/delete', [3])
  rest.clock.step(49 * 3600)
  await createProcessing(rest.ports).expire()
  const { messageStatuses } = (await rest.post(path, [1, 2, 3])).body as { messageStatuses: Record<string, unknown>[] }
  expect(
    messageStatuses.map(({ statusErrorCode, statusCode, creditCost }) => [statusErrorCode, statusCode, creditCost]),
  ).toEqual([
    ['FAILED', 101, 1],
    ['SENDINGFAILED', 101, 0],
    ['SENDINGFAILED', 102, 0],
  ])
})

test('submitted, in flight and unknown are SENT', async () => {
  await sendOne()
  await carry(rest.ports, 'accepted')
  await sendOne()
  await carry(rest.ports, 'accepted', 105)
  await sendOne()
  await carry(rest.ports, 'unknown')
  const { messageStatuses } = (await rest.post(path, [1, 2, 3])).body as { messageStatuses: Record<string, unknown>[] }
  expect(messageStatuses.map(({ statusErrorCode, statusCode }) => [statusErrorCode, statusCode])).toEqual([
    ['SENT', 100],
    ['SENT', 105],
    ['SENT', 106],
  ])
})

test("another account's id is answered exactly as an unknown one", async () => {
  const other = await anAccount(rest.ports)
  await createGateway(rest.ports).sendMessages(other, [{ text: 'x', recipients: [number] }])
  await carry(rest.ports, 'accepted')
  expect(statusesOf(await rest.post(path, [1]))).toBe(absent(1, -2))
})

test('a message is known for 90 days to the second', async () => {
  await sendOne()
  await carry(rest.ports, 'accepted')
  rest.clock.step(90 * 86_400)
  expect((await rest.post(path, [1])).text).toContain('"statusCode":100')
  rest.clock.step(1)
  expect((await rest.post(path, [1])).text).toContain('"statusCode":-2')
})

test('ids are answered in request order, as often as they are asked for', async () => {
  await sendOne()
  const answer = await rest.post(path, '[900719925474099, 1, 900719925474099, 1]')
  const { messageStatuses } = answer.body as { messageStatuses: readonly { apiMessageId: number }[] }
  expect(messageStatuses.map(({ apiMessageId }) => apiMessageId)).toEqual([900719925474099, 1, 900719925474099, 1])
})

test('a thousand ids are answered, one more is 422', async () => {
  await rest.post('/sms/outgoing/send', { message: 'x', recipients: numbers(100).map((n) => ({ mobileNumber: n })) })
  const ids = Array.from({ length: 1001 }, (_, i) => i + 1)
  const answer = await rest.post(path, ids.slice(0, 1000))
  expect((answer.body as { messageStatuses: unknown[] }).messageStatuses).toHaveLength(1000)
  expect((await rest.post(path, ids)).status).toBe(422)
})

test.each<[OutcomeCode, string]>([
  [0, 'DELIVERED'],
  [100, 'SENT'],
  [105, 'SENT'],
  [106, 'SENT'],
  [101, 'SENDINGFAILED'],
  [102, 'SENDINGFAILED'],
  [103, 'SENDINGFAILED'],
  [107, 'SENDINGFAILED'],
  [111, 'SENDINGFAILED'],
  [202, 'SENDINGFAILED'],
  [212, 'SENDINGFAILED'],
  [213, 'SENDINGFAILED'],
  [214, 'SENDINGFAILED'],
])('code %i is %s', (code, word) => {
  const status: MessageStatus = { code, at: rest.clock.now(), number: aNumber(), cost: credits(0), taken: true }
  expect(statusWords(status)).toEqual({ word, code })
})
