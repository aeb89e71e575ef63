import { credits, createGateway, OUTCOME, type MessageStatus, type OutcomeCode } from '@gateway/core'
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

test('queued and scheduled are NOTFOUND -1, unknown is NOTFOUND -2: no number, the time of the answer, 0.0', async () => {
  await sendOne()
  await sendOne({ scheduledTime: '202701010000' })
  expect(statusesOf(await rest.post(path, [1, 2, 3]))).toBe([absent(1, -1), absent(2, -1), absent(3, -2)].join())
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
  const status: MessageStatus = { code, at: rest.clock.now(), number: aNumber(), cost: credits(0) }
  expect(statusWords(status)).toEqual({ word, code })
})
