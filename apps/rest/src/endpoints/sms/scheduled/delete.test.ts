import { createBackOffice } from '@gateway/core'
import { credits } from '@gateway/core/credits'
import type { Deletion } from '@gateway/core/messages'
import { anAccount } from '@gateway/core/testing'
import { carry } from '../../../../testing/carry.ts'
import { keyFor, startRest, type Rest } from '../../../../testing/start-rest.ts'
import { DELETE_ERROR } from '../../../words.ts'

let rest: Rest
beforeEach(async () => {
  rest = await startRest()
})
afterEach(() => rest.close())

const path = '/sms/scheduled/delete'
const send = (scheduledTime: string | null, ...numbers: string[]) =>
  rest.post('/sms/outgoing/send', {
    message: 'hello',
    recipients: numbers.map((mobileNumber) => ({ mobileNumber })),
    scheduledTime,
  })
const balance = async () => ((await rest.get('/credits/balance')).body as { creditBalance: number }).creditBalance

interface Deleted {
  readonly apiMessageId: number
  readonly deleted: boolean
  readonly deleteError: string
  readonly creditCost: number
}
const statusesOf = (answer: { body: unknown }) =>
  (answer.body as { deletedMessageStatuses: readonly Deleted[] }).deletedMessageStatuses
const errors = async (ids: readonly number[]) =>
  statusesOf(await rest.post(path, ids)).map(({ deleteError }) => deleteError)

test('each id is answered in request order, with every field in the ruled order', async () => {
  await rest.ports.prices.set('44', credits(25))
  await send('202701010000', '27825550101', '447700900123')
  await send(null, '27825550102')
  expect((await rest.post(path, [99, 2, 3])).text).toBe(
    '{"timeStamp":"20261018100000000","version":"1.0","statusCode":200,"deletedMessageStatuses":[' +
      '{"apiMessageId":99,"mobileNumber":"","deleted":false,"deleteError":"NOTFOUND","creditCost":0.0},' +
      '{"apiMessageId":2,"mobileNumber":"447700900123","deleted":true,"deleteError":"","creditCost":2.5},' +
      '{"apiMessageId":3,"mobileNumber":"27825550102","deleted":false,"deleteError":"SENT","creditCost":0.0}]}',
  )
})

test('deleting some of a send leaves the rest, which goes out, and refunds what was charged for those', async () => {
  await rest.ports.prices.set('44', credits(25))
  await send('202610181001', '27825550101', '447700900123', '27825550103')
  expect(await balance()).toBe(95.5)
  await rest.ports.prices.set('44', credits(90))
  expect(await errors([2])).toEqual([''])
  expect(await balance()).toBe(98)
  rest.clock.step(60)
  await rest.ports.claimedBatches.promote(100)
  await carry(rest.ports, 'accepted')
  const codes = (await rest.post('/sms/outgoing/status', [1, 2, 3])).text.match(/"statusCode":\d+/g)
  expect(codes?.slice(1)).toEqual(['"statusCode":100', '"statusCode":102', '"statusCode":100'])
  expect(await balance()).toBe(98)
})

test('the same id twice in a call is deleted and refunded once', async () => {
  await send('202701010000', '27825550101')
  expect(await errors([1, 1, 1])).toEqual(['', 'NOTFOUND', 'NOTFOUND'])
  expect(await balance()).toBe(100)
})

test('the same id in many calls at a time is deleted and refunded once', async () => {
  await send('202701010000', '27825550101', '27825550102')
  const answers = await Promise.all(Array.from({ length: 16 }, () => errors([1, 2])))
  expect(answers.flat().filter((error) => error === '')).toHaveLength(2)
  expect(answers.flat().filter((error) => error === 'NOTFOUND')).toHaveLength(30)
  expect(await balance()).toBe(100)
})

test('a message that is due can be deleted until it is claimed, and is SENT and stays charged from then on', async () => {
  await send('202610181001', '27825550101', '27825550102')
  rest.clock.step(3600)
  expect(await errors([1])).toEqual([''])
  await rest.ports.claimedBatches.promote(100)
  await carry(rest.ports, 'accepted')
  expect(await errors([2])).toEqual(['SENT'])
  expect(await balance()).toBe(99)
})

test('what was never scheduled is SENT, also if its time was past', async () => {
  await send(null, '27825550101')
  await send('202610180959', '27825550102')
  expect(await errors([1, 2])).toEqual(['SENT', 'SENT'])
  expect(await balance()).toBe(98)
})

test('a message older than 90 days is NOTFOUND', async () => {
  await send(null, '27825550101')
  await carry(rest.ports, 'accepted')
  rest.clock.step(90 * 86_400)
  expect(await errors([1])).toEqual(['SENT'])
  rest.clock.step(1)
  expect(await errors([1])).toEqual(['NOTFOUND'])
})

test("another account's id is answered exactly as an unknown one, and stays", async () => {
  await send('202701010000', '27825550101')
  const sub = await anAccount(rest.ports, { parent: rest.account.id })
  const key = await keyFor(rest.ports, sub)
  const answer = await rest.post(path, [1, 2]).set('Authorization', key)
  const absent = (id: number) => ({
    apiMessageId: id,
    mobileNumber: '',
    deleted: false,
    deleteError: 'NOTFOUND',
    creditCost: 0,
  })
  expect(statusesOf(answer)).toEqual([absent(1), absent(2)])
  expect((await rest.get('/sms/scheduled')).body).toMatchObject({ resultsTotalAvailable: 1 })
  expect(await balance()).toBe(99)
})

test('a locked account deletes, and is refunded', async () => {
  await send('202701010000', '27825550101')
  await createBackOffice(rest.ports).lockAccount(rest.account.id)
  expect(await errors([1])).toEqual([''])
  expect(await balance()).toBe(100)
})

test.each(['[]', '{}', '[1,"1"]', '[1,1.0]', '[1,1e0]', '[1,null]', '[1,0]', '[1,9007199254740992]'])(
  '%s is 422, and nothing is deleted',
  async (body) => {
    await send('202701010000', '27825550101')
    expect((await rest.post(path, body)).status).toBe(422)
    expect(await balance()).toBe(99)
  },
)

test('a thousand ids are deleted in one call; one more is 422 and nothing is', async () => {
  const ids = Array.from({ length: 1001 }, (_, i) => i + 1)
  await rest.ports.ledger.topUp(rest.account.id, credits(10_000), 'more', rest.clock.now())
  await send('202701010000', ...ids.slice(1).map((i) => `2782555${String(i).padStart(4, '0')}`))
  expect((await rest.post(path, ids)).status).toBe(422)
  expect(await balance()).toBe(100)
  expect(await errors(ids.slice(0, 1000))).toEqual(Array(1000).fill(''))
  expect(await balance()).toBe(1100)
})

test('each outcome has a word', () => {
  const words: Record<Deletion['outcome'], string> = { deleted: '', sent: 'SENT', 'not-found': 'NOTFOUND' }
  expect(DELETE_ERROR).toEqual(words)
})

test('the database in trouble is 503 with the envelope and not NOTFOUND', async () => {
  const broken = await startRest({
    gateway: (gateway) => ({ ...gateway, deleteScheduled: () => Promise.reject(new Error('lost')) }),
  })
  const answer = await broken.post(path, [1])
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, undefined])
  await broken.close()
})
