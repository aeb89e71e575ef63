import { arrive, write } from '@gateway/core/testing'
import { startRest, type Rest } from '../../../testing/start-rest.ts'

let rest: Rest
beforeEach(async () => {
  rest = await startRest()
})
afterEach(() => rest.close())

const path = '/sms/incoming'
const person = '27825550101'
const listed = async (query = '') => {
  const answer = await rest.get(`${path}${query}`)
  const { resultsTotalAvailable: total, incomingMessages } = answer.body as {
    resultsTotalAvailable: number
    incomingMessages: readonly { messageText: string }[]
  }
  return { total, texts: incomingMessages.map(({ messageText }) => messageText) }
}

test.each(['&;=%', 'one\r\ntwo', '\f\x01\x7f\u2028', '😀 é €', ']]></a>', '\ufffe', '"},{"', ''])(
  'the text %j comes as it is',
  async (text) => {
    await write(rest.ports, rest.account, person)
    await arrive(rest.ports, person, text)
    expect(await listed()).toEqual({ total: 1, texts: [text] })
  },
)

test('replies are listed for exactly 90 days', async () => {
  await write(rest.ports, rest.account, person)
  await arrive(rest.ports, person, 'old')
  rest.clock.step(1)
  await arrive(rest.ports, person, 'young')
  rest.clock.step(90 * 86_400)
  expect(await listed()).toEqual({ total: 1, texts: ['young'] })
})

test('a failing database leads to 503 with the envelope and not to an empty list', async () => {
  const broken = await startRest({
    gateway: (gateway) => ({
      ...gateway,
      queries: { ...gateway.queries, listReplies: () => Promise.reject(new Error('lost')) },
    }),
  })
  expect((await broken.get(path)).body).toMatchObject({ statusCode: 503 })
  await broken.close()
})
