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

test('several texts are answered each with its recipients, in request order', async () => {
  const answer = await rest.post(path, {
    messages: [
      { message: 'say "one"', recipients: to('27825550101', '1') },
      { message: 'two', recipients: to('27825550102'), scheduledTime: '202701010000' },
    ],
  })
  expect(answer.text).toBe(
    '{"timeStamp":"20261018100000000","version":"1.0","statusCode":200,"messages":[' +
      '{"message":"say \\"one\\"","recipients":[' +
      '{"clientMessageId":null,"mobileNumber":"27825550101","accepted":true,"acceptError":"","apiMessageId":1,"scheduledTime":null,"creditCost":1.0,"newCreditBalance":99.0},' +
      '{"clientMessageId":null,"mobileNumber":"1","accepted":false,"acceptError":"BADDEST","apiMessageId":null,"scheduledTime":null,"creditCost":0.0,"newCreditBalance":99.0}]},' +
      '{"message":"two","recipients":[' +
      '{"clientMessageId":null,"mobileNumber":"27825550102","accepted":true,"acceptError":"","apiMessageId":2,"scheduledTime":"202701010000","creditCost":1.0,"newCreditBalance":98.0}]}]}',
  )
})

test.each<[string, unknown, string]>([
  ['no messages', {}, 'messages is missing.'],
  ['an empty array', { messages: [] }, 'messages must be an array of 1 to 1000 objects; got an empty array.'],
  ['an array', [], 'The body must be an object; got an array.'],
  ['a message that is none', { messages: ['x'] }, 'messages.0 must be an object; got a string.'],
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
])('%s: 422, and nothing is sent', async (_title, body, errorMessage) => {
  const answer = await rest.post(path, body)
  expect(answer.status).toBe(422)
  expect(answer.body).toMatchObject({ errorMessage })
  expect((await rest.get('/credits/balance')).body).toMatchObject({ creditBalance: 100 })
})

test('the credits are spent in request order over all texts, and a later recipient that still fits is accepted', async () => {
  await rest.ports.prices.set('44', credits(990))
  const answer = await rest.post(path, {
    messages: [
      { message: 'one', recipients: to('27825550101', '447700900123') },
      { message: 'two', recipients: to('27825550102') },
      { message: 'three', recipients: to('27825550103', '27825550103') },
    ],
  })
  const { messages } = answer.body as { messages: readonly { recipients: readonly object[] }[] }
  expect(messages.map(({ recipients }) => recipients)).toMatchObject([
    [
      { apiMessageId: 1, newCreditBalance: 99 },
      { apiMessageId: 2, creditCost: 99, newCreditBalance: 0 },
    ],
    [{ acceptError: 'INSUFFICIENT CREDITS', apiMessageId: null, newCreditBalance: 0 }],
    [{ acceptError: 'INSUFFICIENT CREDITS' }, { acceptError: 'INSUFFICIENT CREDITS' }],
  ])
})

test('maxSegments and the time of each text are its own', async () => {
  const long = 'x'.repeat(161)
  const answer = await rest.post(path, {
    messages: [
      { message: long, recipients: to('27825550101'), maxSegments: 1 },
      { message: long, recipients: to('27825550102'), scheduledTime: 202701010000 },
      { message: '€€', recipients: to('27825550103'), scheduledTime: '202601010000', maxSegments: null },
    ],
  })
  const { messages } = answer.body as { messages: readonly { message: string; recipients: readonly object[] }[] }
  expect(messages).toMatchObject([
    { message: long, recipients: [{ acceptError: 'TOOLONG', scheduledTime: null }] },
    { message: long, recipients: [{ creditCost: 2, scheduledTime: '202701010000' }] },
    { message: '€€', recipients: [{ creditCost: 1, scheduledTime: null }] },
  ])
})

test('1000 texts with one recipient each are one call', async () => {
  await rest.ports.ledger.topUp(rest.account.id, credits(10_000), 'more', rest.clock.now())
  const messages = numbers(1000).map((number) => ({ message: 'x', recipients: to(number) }))
  const answer = await rest.post(path, { messages })
  expect(answer.text.match(/"accepted":true/g)).toHaveLength(1000)
  expect((await rest.post(path, { messages: [...messages, ...messages.slice(0, 1)] })).status).toBe(422)
  expect((await rest.get('/credits/balance')).body).toMatchObject({ creditBalance: 100 })
})

test('with an Idempotency-Key it is done once, and has the first answer again; one text alone is the same to send', async () => {
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
