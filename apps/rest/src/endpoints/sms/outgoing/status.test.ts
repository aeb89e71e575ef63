import { createProcessing } from '@gateway/core'
import { credits } from '@gateway/core/credits'
import type { DeliveryReceiptCode } from '@gateway/core/dispatch'
import type { MessageStatus, OutcomeCode } from '@gateway/core/messages'
import { aNumber } from '@gateway/core/testing'
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

test.each<[string, DeliveryReceiptCode]>([
  ['expired', 101],
  ['cancelled', 102],
  ['undeliverable', 103],
  ['rejected', 107],
  ['failed', 213],
])('a message that a carrier accepted and reported as %s is FAILED and stays charged', async (_what, code) => {
  await sendOne()
  await carry(rest.ports, 'accepted', code)
  expect((await rest.post(path, [1])).body).toMatchObject({
    messageStatuses: [
      { statusDelivered: false, statusErrorCode: 'FAILED', creditCost: 1, status: 'SENDINGFAILED', statusCode: code },
    ],
  })
})

test('deleted and expired messages are SENDINGFAILED, unlike messages with the same code that a carrier had accepted', async () => {
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

test('a message is known for exactly 90 days', async () => {
  await sendOne()
  await carry(rest.ports, 'accepted')
  rest.clock.step(90 * 86_400)
  expect((await rest.post(path, [1])).text).toContain('"statusCode":100')
  rest.clock.step(1)
  expect((await rest.post(path, [1])).text).toContain('"statusCode":-2')
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
  const status: MessageStatus = { code, at: rest.clock.now(), number: aNumber(), cost: credits(0), staysCharged: true }
  expect(statusWords(status)).toEqual({ word, code })
})
