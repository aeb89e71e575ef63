import { join } from 'node:path'
import { httpCarrier, httpSettingsOf } from '@gateway/adapters-http'
import type { Carrier, SubmissionAnswer } from '@gateway/core/dispatch'
import { aBody, aMessageId, anAddress, aNumber, until } from '@gateway/core/testing'
import { callbackReceiver, type CallbackReceiver } from '../../testing/callback-receiver.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import type { HttpProviderServer, HttpProviderSettings } from './settings.ts'
import { startHttpProvider } from './start-http-provider.ts'

let receiver: CallbackReceiver
const closing: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  receiver = await callbackReceiver()
})
afterEach(async () => {
  receiver.close()
  await Promise.all(closing.splice(0).map((close) => close()))
})

const immediate = { receiptDelay: 0, replayDelay: 20, slowDelay: 30, retryDelay: 10 }

/** Starts a simulated provider, and the carrier of the gateway that sends to it over one connection. */
async function open(
  provider: 'twilio' | 'bulksms' = 'twilio',
  { changes, ...further }: Partial<HttpProviderSettings> = {},
) {
  const server = await startHttpProvider({
    ...{ provider, callbackUrl: receiver.url, changes: { ...immediate, ...changes } },
    ...further,
  })
  const secrets =
    provider === 'twilio'
      ? { sid: ['AC0123'], token: ['tok'] }
      : { id: ['ID'], token: ['TOK'], path: ['0123456789abcdef0123456789abcdef'] }
  const own = { responseSeconds: 1, window: 1, baseUrl: server.url, from: '15005550006' }
  const publicUrl = new URL(receiver.url).origin
  const settings = await httpSettingsOf({ ...own, provider, secrets, publicUrl }, [])
  const carrier = httpCarrier('main', settings, { report: () => undefined })
  closing.push(
    () => carrier.close(Promise.resolve()),
    () => server.close(),
  )
  carrier.listen({ receipts: () => Promise.resolve([]), inboundMessages: () => Promise.resolve() })
  return { server, send: sender(carrier) }
}

function sender(carrier: Carrier) {
  let last = 0
  return async (to: string): Promise<SubmissionAnswer> => {
    const answers: SubmissionAnswer[] = []
    const id = aMessageId(++last)
    carrier.submit([{ id, from: anAddress(), to: aNumber(to), body: aBody('Hello') }], (some) => answers.push(...some))
    await until(() => answers.length > 0)
    return answers[0] ?? { id, outcome: 'unknown' }
  }
}

const statesOf = (provider: HttpProviderServer) =>
  provider.journal().flatMap((entry) => (entry.event === 'callback' ? [[entry.kind, entry.state, entry.status]] : []))

test.each([
  ['27825550170', 'slowly', 'accepted', 1],
  ['27825550171', 'with 503 although it is accepted', 'unknown', 1],
  ['27825550172', 'with an HTML page and 200', 'unknown', 0],
  ['27825550173', 'without an id', 'unknown', 1],
  ['27825550177', 'with a gzip body', 'accepted', 1],
  ['27825550178', 'in chunks', 'accepted', 1],
  ['27825550179', 'by a reset before the first byte', 'unknown', 0],
  ['27825550180', 'by a reset after the first bytes', 'unknown', 1],
  ['27825550184', 'not at all, although it is accepted', 'unknown', 1],
  ['27825550195', 'not at all and never reported, although it is accepted', 'unknown', 0],
  ['27825550182', 'as opted out', 'refused', 0],
  ['27825550193', 'as an invalid number', 'refused', 0],
])('a message to %s is answered %s', async (to, _, outcome, receipts) => {
  const { server, send } = await open()
  expect(await send(to)).toMatchObject({ outcome })
  await receiver.count(receipts)
  await until(() => statesOf(server).length === receipts)
  expect(statesOf(server)).toEqual(Array.from({ length: receipts }, () => ['receipt', 'delivered', 200]))
})

test('a connection that is reset after an answer leaves the next message unharmed', async () => {
  const { server, send } = await open()
  expect(await send('27825550181')).toMatchObject({ outcome: 'accepted' })
  await until(() => server.status().connections === 0)
  expect(await send('27825550101')).toMatchObject({ outcome: 'accepted' })
})

test.each([
  ['27825550174', [['delivered'], ['delivered']]],
  ['27825550198', [['delivered'], ['undelivered']]],
  ['27825550191', [['undelivered']]],
])('the receipts of a message to %s', async (to, states) => {
  const { send } = await open()
  await send(to)
  const callbacks = await receiver.count(states.length)
  expect(callbacks.map(({ body }) => [new URLSearchParams(body.toString()).get('MessageStatus')])).toEqual(states)
})

test('a receipt comes before the answer to a message to a number ending in 97', async () => {
  const { send } = await open()
  const answered = send('27825550197')
  await receiver.count(1)
  expect(await answered).toMatchObject({ outcome: 'accepted' })
})

test('callbacks of a message to a number ending in 76 are replayed byte for byte', async () => {
  const { send } = await open()
  await send('27825550176')
  const callbacks = await receiver.count(4)
  const signatures = callbacks.map(({ headers, body }) => `${String(headers['x-twilio-signature'])} ${body.toString()}`)
  expect(new Set(signatures).size).toBe(2)
})

test('a callback that is answered 503 is sent again until it is answered 2xx', async () => {
  const { server, send } = await open()
  receiver.answerNext(503, 503)
  await send('27825550101')
  await receiver.count(3)
  await until(() => statesOf(server).length === 1)
  expect(server.status()).toMatchObject({ callbackAnswers: { 200: 1, 503: 2 }, callbacksWaiting: 0 })
})

test('a callback that is answered 403 is not sent again', async () => {
  const { server, send } = await open('twilio', { personality: 'bad-signatures' })
  receiver.answerNext(403)
  await send('27825550101')
  await until(() => statesOf(server).length === 1)
  expect(statesOf(server)).toEqual([['receipt', 'delivered', 403]])
})

test('a personality changes the answers to every nth message while the server runs', async () => {
  const { server, send } = await open()
  server.become('server-errors', { ...immediate, answerFormEvery: 2 })
  const outcomes = [await send('27825550101'), await send('27825550101')].map(({ outcome }) => outcome)
  expect(outcomes).toEqual(['accepted', 'unknown'])
  expect(() => server.become('mean')).toThrow(/There is no personality "mean"/)
  expect(() => server.become('default', { answerForm: 'poem' })).toThrow('answerForm cannot be "poem".')
})

test('an unknown submission that is repeated with the same id is accepted once', async () => {
  const { server, send } = await open('bulksms')
  expect(await send('27825550180')).toMatchObject({ outcome: 'accepted' })
  expect(server.status().messages).toEqual({ accepted: 1, repeated: 1 })
})

test('a message from a mobile is sent as a callback, once the secret that signs it is known', async () => {
  const unknown = await open()
  const arrival = { from: '27825550101', to: '15005550006', text: 'STOP' }
  expect(() => unknown.server.inject(arrival)).toThrow('The secret token is not known')
  const { server } = await open('twilio', { secrets: { token: 'tok' } })
  server.inject(arrival)
  const [callback] = await receiver.count(1)
  expect(Object.fromEntries(new URLSearchParams(callback?.body.toString()))).toMatchObject({
    ...{ From: '+27825550101', To: '+15005550006', Body: 'STOP', SmsStatus: 'received' },
  })
})

test('a provider that is started again with its journal sends the receipts that it owes, and no others', async () => {
  const journalFile = join(await temporaryFolder(), 'provider.jsonl')
  const first = await open('bulksms', { journalFile })
  await first.send('27825550101')
  await receiver.count(1)
  first.server.become('default', { receiptDelay: 60_000 })
  await first.send('27825550102')
  await open('bulksms', { journalFile })
  const received = await receiver.count(2)
  await until(() => received.length === 2)
  expect(received.map(({ body }) => /2782555010[12]/.exec(body.toString())?.[0])).toEqual([
    '27825550101',
    '27825550102',
  ])
})
