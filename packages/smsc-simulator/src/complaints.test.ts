import { smppParameters } from '@gateway/adapters-smpp'
import { until } from '@gateway/core/testing'
import { aSender, aServer, dispatching, endDispatching, type Dispatching } from '../testing/dispatching.ts'
import type { Smsc } from './settings.ts'

// Each test takes a complaint of operators of other gateways and asserts the guarantee of this gateway.

afterEach(endDispatching)

const people = (count: number, ending = '00'): readonly string[] =>
  Array.from({ length: count }, (_, at) => `2782${String(at).padStart(5, '0')}${ending}`)

const submits = (smsc: Smsc) => smsc.journal().flatMap(({ pdu }) => (pdu?.command === 'submit_sm' ? [pdu] : []))
const isBound = ({ status }: Dispatching): boolean => status().links.every(({ boundSince }) => boundSince !== undefined)

test('"resent 28 times": a message that a carrier accepted is sent once, even without an answer or if the link closes', async () => {
  const { ports, send, code } = await aSender()
  const smsc = await aServer({ changes: { receiptDelay: 10 } })
  const dispatcher = dispatching(ports, smsc, '&responseSeconds=1')
  const unanswered = await Promise.all(people(3, '95').map((number) => send(number, 'hello')))
  await until(async () => (await Promise.all(unanswered.map(code))).every((one) => one === 106))
  smsc.become('closes-before-answer', { closesBeforeAnswer: 1, receiptDelay: 3_600_000 })
  for (const number of people(2, '01')) {
    await until(() => isBound(dispatcher))
    const message = await send(number, 'hello')
    await until(async () => (await code(message)) === 106)
  }
  smsc.become('default', { receiptDelay: 10 })
  const last = await send('27825550100', 'hello')
  await until(async () => (await code(last)) === 0)
  expect(submits(smsc).map(({ destinationAddr }) => destinationAddr)).toEqual([
    ...[...people(3, '95'), ...people(2, '01'), '27825550100'],
  ])
})

test('receipts "for an unknown message id": receipts before the answer and with another form of the id match', async () => {
  const { ports, send, code } = await aSender()
  const smsc = await aServer({ personality: 'decimal-receipts', changes: { receiptDelay: 10, receiptFirst: true } })
  const dispatcher = dispatching(ports, smsc)
  const messages = await Promise.all(people(20).map((number) => send(number, 'hello')))
  await until(async () => (await Promise.all(messages.map(code))).every((one) => one === 0))
  expect(dispatcher.status().receipts.form).toBe('HEX')
  // The form is learned only from an id with a letter. Ids begin with the time, so the first ones may contain no
  // letter.
  expect(dispatcher.problems.filter((one) => one.includes('receiptId=HEX'))).toHaveLength(1)
})

test('"only the last part’s receipt asked for": each part has a receipt, and one failed part fails the message', async () => {
  const { ports, send, code } = await aSender()
  const smsc = await aServer({ personality: 'late' })
  dispatching(ports, smsc)
  const message = await send('27825550100', 'a'.repeat(400))
  await until(async () => (await code(message)) === 100)
  expect(submits(smsc).map(({ registeredDelivery }) => registeredDelivery)).toEqual([1, 1, 1])
  const ids = smsc.journal().flatMap(({ pdu }) => (pdu?.command === 'submit_sm_resp' ? [pdu.messageId] : []))
  const tell = (id: string | undefined, state: string) => {
    const octets = Buffer.from(`id:${id ?? ''} stat:${state}`).toString('hex')
    return smsc.inject({ from: '27825550100', to: '12025550100', octets, esmClass: 4 }).acknowledged
  }
  await tell(ids[2], 'DELIVRD')
  expect(await code(message)).toBe(100)
  await tell(ids[0], 'UNDELIV')
  await until(async () => (await code(message)) === 103)
})

test('"links half dead for minutes": silence is detected after two enquireSeconds, at most 41 s, and the next link works', async () => {
  const { ports, send, code } = await aSender()
  const smsc = await aServer({ changes: { receiptDelay: 10 } })
  const dispatcher = dispatching(ports, smsc, '&enquireSeconds=1')
  await until(() => isBound(dispatcher))
  smsc.become('half-open')
  const since = performance.now()
  await until(() => dispatcher.status().lastError === 'the other side gave no sign of life')
  // Silence is detected after two periods of one second and the ticks. The rest of the limit allows for a busy machine.
  expect(performance.now() - since).toBeLessThan(15_000)
  expect(2 * Number(smppParameters['enquireSeconds']?.schema['maximum']) + 1).toBe(41)
  smsc.become('default', { receiptDelay: 10 })
  const message = await send('27825550100', 'hello')
  await until(async () => (await code(message)) === 0)
})

test('"links half dead": a link that answers only enquire_link is replaced after one missing answer', async () => {
  const { ports, send, code } = await aSender()
  const smsc = await aServer({ changes: { answerDelay: 3_600_000, receiptDelay: 3_600_000 } })
  const dispatcher = dispatching(ports, smsc, '&enquireSeconds=1&responseSeconds=3')
  const lost = await send('27825550100', 'hello')
  await until(async () => (await code(lost)) === 106)
  await until(() => dispatcher.status().lastError === 'requests got no answer')
  expect(smsc.journal().some(({ pdu }) => pdu?.command === 'enquire_link_resp')).toBe(true)
  smsc.become('default', { receiptDelay: 10 })
  const next = await send('27825550101', 'hello')
  await until(async () => (await code(next)) === 0)
  expect(submits(smsc)).toHaveLength(2)
})

test('"one message a second because of a window of one": slow answers are awaited concurrently', async () => {
  const { ports, send, code } = await aSender()
  const smsc = await aServer({ changes: { receiptDelay: 10, answerDelay: 300 } })
  dispatching(ports, smsc)
  const messages = await Promise.all(people(60).map((number) => send(number, 'hello')))
  await until(async () => (await Promise.all(messages.map(code))).every((one) => one === 0))
  expect(smsc.status().windowMax).toBeGreaterThanOrEqual(20)
})
