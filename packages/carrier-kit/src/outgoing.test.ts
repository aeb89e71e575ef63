import fc from 'fast-check'
import type { Carrier, SubmissionAnswer } from '@gateway/core/dispatch'
import { carrierContract } from '@gateway/core/contracts'
import { aBody, aMessageId, anAddress, aNumber, until } from '@gateway/core/testing'
import { memoryCarrierShares } from '../testing/memory-carrier-shares.ts'
import { networkCarrier, type NetworkSettings, type Response } from '../testing/network-carrier.ts'

const never = new Promise<never>(() => undefined)
const started: Carrier[] = []
afterEach(() => Promise.all(started.splice(0).map((carrier) => carrier.close(Promise.resolve()))))

function start(settings: NetworkSettings = {}) {
  const network = networkCarrier(settings)
  const { carrier } = network
  started.push(carrier)
  carrier.listen({ receipts: () => Promise.resolve([]), inboundMessages: () => Promise.resolve() })
  const answers: SubmissionAnswer[] = []
  let last = 0
  const submit = (count: number, more: { readonly text?: string; readonly validSeconds?: number } = {}): void => {
    const { text = 'hello', ...rest } = more
    const common = { from: anAddress(), to: aNumber('27825550101'), body: aBody(text), ...rest }
    const messages = Array.from({ length: count }, () => ({ id: aMessageId(++last), ...common }))
    carrier.submit(messages, (some) => void answers.push(...some))
  }
  const outcomes = () => answers.map(({ outcome }) => outcome)
  return { ...network, answers, outcomes, submit }
}

for (const [promise, check] of Object.entries(carrierContract)) {
  test(`a carrier over the kit: ${promise}`, () => check(networkCarrier().carrier))
}

test('the window limits the outstanding requests, and the room is the rest of it', async () => {
  const waiting: (() => void)[] = []
  const answer = (): Promise<Response> =>
    new Promise((resolve) => waiting.push(() => resolve({ is: 'accepted', reference: 'x' })))
  const { carrier, requests, outcomes, submit } = start({ window: 5, answer })
  submit(7)
  expect([requests.length, carrier.room(), carrier.status().waiting]).toEqual([5, 0, 2])
  waiting.shift()?.()
  await until(() => requests.length === 6)
  while (outcomes().length < 7) {
    waiting.splice(0).forEach((respond) => respond())
    await new Promise(setImmediate)
  }
  expect([carrier.room(), outcomes()]).toEqual([5, Array.from({ length: 7 }, () => 'accepted')])
})

test('a throttled message is sent again after the requested pause, and nothing else before it', async () => {
  const { carrier, requests, outcomes, submit } = start({
    window: 1,
    answer: (_, nth) =>
      nth === 1
        ? { is: 'throttled', reason: 'status 429', retryAfterSeconds: 0.7 }
        : { is: 'accepted', reference: 'x' },
  })
  const before = performance.now()
  submit(2)
  await until(() => carrier.availability() === 'throttled')
  expect([carrier.room(), carrier.status().lastError, carrier.status().isThrottled]).toEqual([0, 'status 429', true])
  await until(() => requests.length === 2)
  expect(performance.now() - before).toBeGreaterThanOrEqual(700)
  await until(() => outcomes().length === 2)
  expect(outcomes()).toEqual(['accepted', 'accepted'])
})

test('a broken account keeps the message, opens the circuit with the reason, and a probe that is accepted ends it', async () => {
  let isBroken = true
  const { carrier, answers, problems, recoveries, submit } = start({
    probeSeconds: 0.05,
    answer: () =>
      isBroken ? { is: 'account-broken', reason: 'status 402: no credit' } : { is: 'accepted', reference: 'x' },
  })
  submit(1)
  await until(() => answers.length === 1)
  expect(answers).toEqual([{ id: 1, outcome: 'refused-for-now' }])
  expect(carrier.availability()).toBe('down')
  expect(carrier.status().circuit).toMatchObject({
    state: 'open',
    reason: 'account-broken',
    detail: 'status 402: no credit',
  })
  expect(problems).toEqual([
    'Error: carrier network: it refuses every message because of our account (status 402: no credit); it gets no messages but probes',
  ])
  isBroken = false
  await until(() => carrier.availability() === 'probing')
  for (let round = 0; round < 10; round++) {
    await until(() => carrier.room() > 0)
    submit(1)
    await until(() => answers.length === round + 2)
  }
  expect([carrier.availability(), recoveries]).toEqual([
    'available',
    [expect.stringContaining('it answers again after')],
  ])
})

test('an unknown outcome is final, but a repeatable one is sent again under its key until it is known', async () => {
  const { requests, outcomes, submit } = start({
    answer: (_, nth) => {
      if (nth === 1) return { is: 'unknown', hasAnswered: true }
      if (nth === 2) return { is: 'unknown', hasAnswered: true, isRepeatable: true }
      if (nth === 3) return { is: 'refused-for-now', reason: 'status 503' }
      return { is: 'accepted', reference: 'x' }
    },
  })
  submit(1)
  await until(() => outcomes().length === 1)
  submit(1)
  await until(() => outcomes().length === 2)
  expect([outcomes(), requests.map(({ message }) => message.id)]).toEqual([
    ['unknown', 'accepted'],
    [1, 2, 2, 2],
  ])
})

test('a repeatable outcome that stays unknown ends as unknown, never as refused', async () => {
  const { outcomes, submit } = start({
    partsSeconds: 0.2,
    answer: (_, nth) =>
      nth === 1 ? { is: 'unknown', hasAnswered: true, isRepeatable: true } : { is: 'throttled', reason: 'status 429' },
  })
  submit(1)
  await until(() => outcomes().length === 1)
  expect(outcomes()).toEqual(['unknown'])
})

test('a network that answers nothing useful opens the circuit after three messages', async () => {
  const { carrier, requests, outcomes, submit } = start({ answer: () => ({ is: 'unknown', hasAnswered: true }) })
  submit(3)
  await until(() => outcomes().length === 3)
  expect([outcomes(), carrier.availability()]).toEqual([['unknown', 'unknown', 'unknown'], 'down'])
  submit(1)
  carrier.handBack()
  await until(() => outcomes().length === 4)
  expect([outcomes()[3], requests.length]).toEqual(['refused-for-now', 3])
})

test('a text that the transport cannot express is refused, and one that expired goes back', async () => {
  const { carrier, requests, answers, submit } = start({ window: 1, perSecond: 1 })
  submit(1, { text: 'unsendable' })
  submit(1)
  submit(1, { validSeconds: 0.2 })
  await until(() => answers.length === 3)
  expect(answers).toEqual([
    { id: 1, outcome: 'refused' },
    { id: 2, outcome: 'accepted', reference: 'ref-1' },
    { id: 3, outcome: 'refused-for-now' },
  ])
  expect([carrier.status().lastError, requests.length]).toEqual(['the text does not fit', 1])
})

test('several ids in one answer, and the parts of a message, are references of the message', async () => {
  const { answers, submit } = start({
    parts: 2,
    answer: (_, nth) => ({ is: 'accepted', reference: `${nth}a`, ...(nth === 1 && { furtherReferences: ['1b'] }) }),
  })
  submit(1)
  await until(() => answers.length === 1)
  expect(answers).toEqual([{ id: 1, outcome: 'accepted', reference: '1a', furtherReferences: ['1b', '2a'] }])
})

test('without a share of the rate nothing is sent; with one, no more than the rate', async () => {
  const { carrierRates } = memoryCarrierShares()
  const { carrier, outcomes, submit } = start({ perSecond: 20, rates: carrierRates, window: 100 })
  expect(carrier.room()).toBe(0)
  await until(() => carrier.room() > 0)
  expect(carrier.status().perSecond).toBe(20)
  const before = performance.now()
  submit(15)
  await until(() => outcomes().length === 15)
  expect(performance.now() - before).toBeGreaterThan(500)
  expect(carrier.responseTime()?.counts.reduce((sum, count) => sum + count)).toBe(15)
})

test('closing answers the outstanding message as its request ends, and refuses the others for now', async () => {
  let respond = (): void => undefined
  const answer = (): Promise<Response> =>
    new Promise((resolve) => (respond = () => resolve({ is: 'accepted', reference: 'x' })))
  const { carrier, outcomes, submit } = start({ window: 1, answer })
  submit(2)
  const closed = carrier.close(never)
  await until(() => outcomes().length === 1)
  expect(outcomes()).toEqual(['refused-for-now'])
  submit(1)
  respond()
  await closed
  expect(outcomes().toSorted()).toEqual(['accepted', 'refused-for-now', 'refused-for-now'])
})

test('whatever the network answers, each submission is answered once, and none that it may have is refused for now', async () => {
  const aResult = fc.oneof(
    { weight: 4, arbitrary: fc.constant<Response>({ is: 'accepted', reference: 'x' }) },
    fc.constantFrom<Response>(
      { is: 'refused', reason: 'a' },
      { is: 'refused-for-now', reason: 'b' },
      { is: 'account-broken', reason: 'c' },
      { is: 'resend', reason: 'd' },
      { is: 'unsent' },
      { is: 'unknown', hasAnswered: true },
      { is: 'unknown', hasAnswered: true, isRepeatable: true },
    ),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(aResult, { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 3 }),
      async (results, parts) => {
        /** Messages of which the network has, or may have, a part. */
        const received = new Set<number>()
        const { carrier, answers, submit } = start({
          ...{ parts, window: 10, holdSeconds: 0.02, partsSeconds: 0.02, probeSeconds: 0.01 },
          answer: ({ message }, nth) => {
            const result = results[(nth - 1) % results.length] ?? 'silence'
            if (typeof result === 'object' && (result.is === 'accepted' || result.is === 'unknown'))
              received.add(message.id)
            return result
          },
        })
        submit(12)
        await until(() => answers.length === 12)
        await carrier.close(never)
        expect(new Set(answers.map(({ id }) => id)).size).toBe(12)
        const handedOn = answers.filter(({ outcome }) => outcome === 'refused-for-now').map(({ id }) => id)
        expect(handedOn.filter((id) => received.has(id))).toEqual([])
      },
    ),
    { numRuns: 25, endOnFailure: true },
  )
})
