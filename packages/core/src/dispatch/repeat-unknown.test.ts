import { wrapCarrier, type Carrier, type Submission, type SubmissionAnswer } from '@gateway/core/dispatch'
import { OUTCOME } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import {
  aCarrierId,
  anAccount,
  aNumber,
  anOrder,
  memoryPorts,
  scriptedCarrier,
  steppingClock,
} from '@gateway/core/testing'
import { repeatUnknown } from './repeat-unknown.ts'

const sim = aCarrierId('sim')
const claimRequest = { carrier: sim, lane: 'single', messagesMax: 9, markedMax: 9, leaseSeconds: 600 } as const

/** Starts with one message whose outcome became unknown because its dispatcher died. */
async function start(answer: (id: Submission['id']) => SubmissionAnswer) {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const { id } = await anAccount(ports, { credits: 100 })
  await ports.messages.accept(anOrder(id, { to: [aNumber()], costs: [10] }))
  const dispatcher = await ports.claimedBatches.register(1)
  const batch = await ports.claimedBatches.claim(dispatcher, claimRequest)
  if (typeof batch === 'string') throw new Error(batch)
  clock.step(601)
  await ports.claimedBatches.recover()
  const submitted: Submission[] = []
  const carrier = (members: Partial<Carrier> = {}): Carrier => ({
    ...wrapCarrier(scriptedCarrier({ id: sim }), {
      availability: () => 'available',
      submit: (messages, answered) => {
        submitted.push(...messages)
        queueMicrotask(() => answered(messages.map((message) => answer(message.id))))
      },
    }),
    repeatableSeconds: 3600,
    ...members,
  })
  const [message] = batch.messages
  if (message === undefined) throw new Error('a batch has messages')
  const code = async () => {
    const [status] = await ports.messages.status(id, [message.id], instant(0))
    return typeof status === 'object' ? status.code : status
  }
  return { ports, clock, carrier, submitted, message, code, balance: () => ports.ledger.balance(id) }
}

const hours = 48 * 3600

test('a message that a killed process submitted is submitted again under the same id, and resolved by the answer', async () => {
  const { ports, clock, carrier, submitted, message, code } = await start((id) => ({
    ...{ id, outcome: 'accepted', reference: 'r' },
  }))
  expect(await repeatUnknown(ports, carrier())(hours)).toBe(0)
  expect(await code()).toBe(OUTCOME.unknown)
  expect(submitted).toEqual([])
  clock.step(61)
  expect(await repeatUnknown(ports, carrier())(hours)).toBe(1)
  expect(submitted.map(({ id, due }) => [id, due])).toEqual([[message.id, message.due]])
  expect(await code()).toBe(OUTCOME.sent)
})

test.each<[string, (id: Submission['id']) => SubmissionAnswer, number, number]>([
  ['refused', (id) => ({ id, outcome: 'refused' }), OUTCOME.refused, 100],
  ['refused because of an opt-out', (id) => ({ id, outcome: 'refused', optOut: true }), OUTCOME.optedOut, 100],
  ['refused for now', (id) => ({ id, outcome: 'refused-for-now' }), OUTCOME.unknown, 90],
  ['unknown again', (id) => ({ id, outcome: 'unknown' }), OUTCOME.unknown, 90],
])('an answer that is %s', async (_, answer, expected, credits) => {
  const { ports, clock, carrier, code, balance } = await start(answer)
  clock.step(61)
  await repeatUnknown(ports, carrier())(hours)
  expect([await code(), await balance()]).toEqual([expected, credits])
})

test('repetitions follow at growing intervals until the time of the guarantee is over, and the message stays at 106', async () => {
  const { ports, clock, carrier, submitted, code } = await start((id) => ({ id, outcome: 'unknown' }))
  for (let minute = 0; minute < 120; minute++) {
    clock.step(60)
    await repeatUnknown(ports, carrier())(hours)
  }
  expect(submitted.length).toBeGreaterThan(3)
  expect(submitted.length).toBeLessThan(10)
  expect(await code()).toBe(OUTCOME.unknown)
})

test.each<[string, Partial<Carrier>]>([
  ['without a guarantee', { repeatableSeconds: undefined }],
  ['whose guarantee is over', { repeatableSeconds: 60 }],
  ['that is paused', { mode: () => 'paused' }],
  ['that is down', { availability: () => 'down' }],
  ['with another name', { id: aCarrierId('other') }],
])('a carrier %s gets no repetition', async (_, members) => {
  const { ports, clock, carrier, submitted } = await start((id) => ({ id, outcome: 'accepted', reference: 'r' }))
  clock.step(120)
  expect(await repeatUnknown(ports, carrier(members))(hours)).toBe(0)
  expect(submitted).toEqual([])
})
