import { credits } from '@gateway/core/credits'
import type { Deletion } from '@gateway/core/messages'
import { carry } from '../../../../testing/carry.ts'
import { startRest, type Rest } from '../../../../testing/start-rest.ts'
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

test('deleting some messages of a send refunds them and does not affect the others, which are sent', async () => {
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

test('a due message can be deleted until it is claimed; afterwards it is SENT and stays charged', async () => {
  await send('202610181001', '27825550101', '27825550102')
  rest.clock.step(3600)
  expect(await errors([1])).toEqual([''])
  await rest.ports.claimedBatches.promote(100)
  await carry(rest.ports, 'accepted')
  expect(await errors([2])).toEqual(['SENT'])
  expect(await balance()).toBe(99)
})

test('a message that was not scheduled is SENT, also if its scheduled time had passed', async () => {
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

test('each outcome has a word', () => {
  const words: Record<Deletion['outcome'], string> = { deleted: '', sent: 'SENT', 'not-found': 'NOTFOUND' }
  expect(DELETE_ERROR).toEqual(words)
})

test('a failing database leads to 503 with the envelope and not to NOTFOUND', async () => {
  const broken = await startRest({
    gateway: (gateway) => ({
      ...gateway,
      commands: { ...gateway.commands, deleteScheduled: () => Promise.reject(new Error('lost')) },
    }),
  })
  const answer = await broken.post(path, [1])
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, undefined])
  await broken.close()
})
