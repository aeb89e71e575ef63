import { credits } from '@gateway/core/credits'
import { carry } from '../../../testing/carry.ts'
import { startRest, type Rest } from '../../../testing/start-rest.ts'

let rest: Rest
beforeEach(async () => {
  rest = await startRest()
})
afterEach(() => rest.close())

const path = '/sms/scheduled'
const send = (scheduledTime: string | null, ...numbers: string[]) =>
  rest.post('/sms/outgoing/send', {
    message: 'hello',
    recipients: numbers.map((mobileNumber) => ({ mobileNumber })),
    scheduledTime,
  })
const listed = async (query = '') => {
  const answer = await rest.get(`${path}${query}`)
  const { resultsTotalAvailable, scheduledMessages } = answer.body as {
    resultsTotalAvailable: number
    scheduledMessages: readonly { apiMessageId: number }[]
  }
  return { total: resultsTotalAvailable, ids: scheduledMessages.map(({ apiMessageId }) => apiMessageId) }
}

test('a due message is listed until it is claimed', async () => {
  await send('202610181001', '27825550101')
  rest.clock.step(3600)
  expect(await listed()).toEqual({ total: 1, ids: [1] })
  await rest.ports.claimedBatches.promote(100)
  expect(await listed()).toEqual({ total: 1, ids: [1] })
  await carry(rest.ports, 'accepted')
  expect(await listed()).toEqual({ total: 0, ids: [] })
})

test('offset and limit select a page; the total counts all items, and the default is the first 100', async () => {
  await rest.ports.ledger.topUp(rest.account.id, credits(1000), 'more', rest.clock.now())
  await send('202701010000', ...Array.from({ length: 105 }, (_, i) => `2782555${String(i).padStart(4, '0')}`))
  expect((await listed()).ids).toHaveLength(100)
  expect(await listed('?offset=103&limit=1000')).toEqual({ total: 105, ids: [104, 105] })
  expect(await listed('?limit=1')).toEqual({ total: 105, ids: [1] })
  expect(await listed('?offset=105')).toEqual({ total: 105, ids: [] })
  expect((await rest.get(`${path}?offset=9007199254740991&limit=7`)).text).toContain(
    '"resultsOffset":9007199254740991,"resultsLimit":7,"resultsTotalAvailable":105,"scheduledMessages":[]}',
  )
})

test.each(['?offset=-1', '?offset=x', '?offset=', '?limit=0', '?limit=1001', '?limit=1.0', '?offset=1e1'])(
  '%s is 422',
  async (query) => {
    const answer = await rest.get(`${path}${query}`)
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ errorMessage: expect.stringMatching(/^(offset|limit) must be /) as string })
  },
)

test('a failing database leads to 503 with the envelope and not to an empty list', async () => {
  const broken = await startRest({
    gateway: (gateway) => ({
      ...gateway,
      queries: { ...gateway.queries, listScheduled: () => Promise.reject(new Error('lost')) },
    }),
  })
  const answer = await broken.get(path)
  expect(answer.status).toBe(503)
  expect(answer.body).toMatchObject({ statusCode: 503 })
  await broken.close()
})
