import { credits } from '@gateway/core/credits'
import { numbers } from '@gateway/core/testing'
import { startRest, type Rest } from '../../../../testing/start-rest.ts'

let rest: Rest
beforeEach(async () => {
  rest = await startRest()
})
afterEach(() => rest.close())

const path = '/sms/outgoing/sendmulti'
const to = (...mobileNumbers: string[]) => mobileNumbers.map((mobileNumber) => ({ mobileNumber }))

test.each<[string, unknown, string]>([
  ['no messages', {}, 'messages is missing.'],
  ['an empty array', { messages: [] }, 'messages must be an array of 1 to 1000 objects; got an empty array.'],
  ['an array', [], 'The body must be an object; got an array.'],
  ['a message that is not an object', { messages: ['x'] }, 'messages.0 must be an object; got a string.'],
  [
    'one blank text',
    {
      messages: [
        { message: 'x', recipients: to('27825550101') },
        { message: ' ', recipients: to('27825550102') },
      ],
    },
    'messages.1.message must not be blank.',
  ],
  [
    'one malformed time',
    { messages: [{ message: 'x', recipients: to('27825550101'), scheduledTime: 'soon' }] },
    'messages.0.scheduledTime must be a time YYYYMMDDHHmm; got "soon".',
  ],
  [
    '1001 recipients in all',
    {
      messages: [
        { message: 'x', recipients: to(...numbers(500)) },
        { message: 'y', recipients: to(...numbers(501)) },
      ],
    },
    'recipients must be at most 1000 in all messages together; got 1001.',
  ],
])('%s leads to 422, and nothing is sent', async (_title, body, errorMessage) => {
  const answer = await rest.post(path, body)
  expect(answer.status).toBe(422)
  expect(answer.body).toMatchObject({ errorMessage })
  expect((await rest.get('/credits/balance')).body).toMatchObject({ creditBalance: 100 })
})

test('1000 texts with one recipient each fit into one request', async () => {
  await rest.ports.ledger.topUp(rest.account.id, credits(10_000), 'more', rest.clock.now())
  const messages = numbers(1000).map((number) => ({ message: 'x', recipients: to(number) }))
  const answer = await rest.post(path, { messages })
  expect(answer.text.match(/"accepted":true/g)).toHaveLength(1000)
  expect((await rest.post(path, { messages: [...messages, ...messages.slice(0, 1)] })).status).toBe(422)
  expect((await rest.get('/credits/balance')).body).toMatchObject({ creditBalance: 100 })
})

test('with an Idempotency-Key a repeated request gets the first answer, also from /send if it has a single text', async () => {
  const messages = [
    { message: 'x', recipients: to('27825550101') },
    { message: 'y', recipients: to('27825550102', '1') },
  ]
  const sent = (body: object, to = path) => rest.post(to, body).set('Idempotency-Key', 'k')
  const first = await sent({ messages })
  expect((await sent({ messages })).text).toBe(first.text)
  expect((await sent({ messages: messages.slice(1) })).status).toBe(422)
  expect((await sent({ message: 'x', recipients: to('27825550101') }, '/sms/outgoing/send')).status).toBe(422)
  expect((await rest.get('/credits/balance')).body).toMatchObject({ creditBalance: 98 })

  const [one] = messages
  const alone = (body: object | undefined, to: string) => rest.post(to, body).set('Idempotency-Key', 'alone')
  const ids = (answer: { text: string }) => answer.text.match(/"apiMessageId":[0-9]+/g)
  expect(ids(await alone({ messages: [one] }, path))).toEqual(['"apiMessageId":3'])
  expect(ids(await alone(one, '/sms/outgoing/send'))).toEqual(['"apiMessageId":3'])
})
