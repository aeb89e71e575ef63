import { smppCarrier, smppCarrierFromUrl, smppSettingsFromUrl } from '@gateway/adapters-smpp'
import { memoryCarrierShares } from '@gateway/carrier-kit/testing'
import {
  createDispatcher,
  type Carrier,
  type Dispatcher,
  type DeliveryReceipt,
  type Submission,
  type SubmissionAnswer,
} from '@gateway/core/dispatch'
import type { InboundMessage } from '@gateway/core/inbox'
import { instant } from '@gateway/core/time'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  aBody,
  aMessageId,
  anAccount,
  anAddress,
  aNumber,
  anOrder,
  memoryPorts,
  numbers,
  until,
} from '@gateway/core/testing'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { PERSONALITIES } from './personalities.ts'
import type { Smsc, SmscSettings } from './settings.ts'
import { startSmsc } from './start-smsc.ts'

const carriers: Carrier[] = []
const smscs: Smsc[] = []
afterEach(async () => {
  await Promise.all(carriers.splice(0).map((carrier) => carrier.close(Promise.resolve())))
  await Promise.all(smscs.splice(0).map((smsc) => smsc.close()))
})

/** Binds the gateway's carrier to a server of this personality. */
async function joined(
  personality: string,
  changes: SmscSettings['changes'] = {},
  parameters = '',
  settings: SmscSettings = {},
) {
  const quick = { retryMilliseconds: 20, changes: { receiptDelay: 20, ...changes } }
  const smsc = await startSmsc({ personality, ...quick, ...settings })
  smscs.push(smsc)
  const problems: string[] = []
  const url = `smpp://us:secret@127.0.0.1:${smsc.port}?reconnectSecondsMax=1${parameters}`
  const carrier = smppCarrierFromUrl(url, { id: 'test', report: (problem) => problems.push(String(problem)) })
  carriers.push(carrier)
  const answers: SubmissionAnswer[] = []
  const receipts: DeliveryReceipt[] = []
  const inbound: InboundMessage[] = []
  const numbers = new Map<number, string>()
  const isKnown = ({ reference, number }: DeliveryReceipt): boolean =>
    answers.some((one) => 'reference' in one && one.reference === reference && numbers.get(one.id) === number)
  carrier.listen({
    receipts: (some) => {
      const strangers = some.filter((one) => !isKnown(one))
      // Keeps receipts of unknown messages, as the real store does, but drops those whose id is only a guess.
      receipts.push(...some.filter((one) => one.isGuess !== true || !strangers.includes(one)))
      return Promise.resolve(strangers)
    },
    inboundMessages: (some) => Promise.resolve(void inbound.push(...some)),
  })
  const isBound = (): boolean => carrier.status().links.every(({ boundSince }) => boundSince !== undefined)
  return {
    ...{ smsc, carrier, answers, receipts, inbound, problems, isBound },
    submit: (count: number, ending = '01'): void => {
      const messages = Array.from({ length: count }, (): Submission => {
        const id = numbers.size + 1
        const to = aNumber(`2782${String(id).padStart(5, '0')}${ending}`)
        numbers.set(id, to)
        return { id: aMessageId(id), from: anAddress(), to, body: aBody() }
      })
      carrier.submit(messages, (some) => void answers.push(...some))
    },
    outcomes: () => answers.toSorted((a, b) => a.id - b.id).map(({ outcome }) => outcome),
    /** Destination numbers of the submit_sm that arrived, in order. */
    submitted: () => smsc.journal().flatMap(({ pdu }) => (pdu?.command === 'submit_sm' ? [pdu.destinationAddr] : [])),
    refusals: () => smsc.journal().filter(({ pdu }) => pdu?.command === 'submit_sm_resp' && pdu.status !== 0).length,
    /** Accepted messages without a receipt for their id and number. */
    unreported: () =>
      answers.filter(
        (one) =>
          one.outcome === 'accepted' &&
          !receipts.some(({ reference, number }) => reference === one.reference && number === numbers.get(one.id)),
      ).length,
  }
}

const all = (count: number, outcome: string): readonly string[] => Array.from({ length: count }, () => outcome)

test('slow: at most one window of messages is unanswered, and every message gets its answer', async () => {
  const { smsc, submit, submitted, answers, outcomes } = await joined('slow', { answersPerSecond: 20 }, '&window=5')
  submit(20)
  await until(() => answers.length === 20)
  expect(outcomes()).toEqual(all(20, 'accepted'))
  expect(new Set(submitted()).size).toBe(submitted().length)
  expect(smsc.status().windowMax).toBe(5)
})

test('slow: messages that wait for a carrier with a large window do not become unknown', async () => {
  // If the carrier used its whole window of 50, the last response would take 6 s and exceed `responseSeconds`.
  const { smsc, submit, answers, outcomes } = await joined('slow', { answersPerSecond: 8 }, '&responseSeconds=5')
  submit(50)
  await until(() => answers.length === 50, 60_000)
  expect(outcomes()).toEqual(all(50, 'accepted'))
  expect(smsc.status().windowMax).toBeLessThan(25)
})

test('unknown-receipts: a message whose receipt says UNKNOWN is queried once and gets the state of the response', async () => {
  const smsc = await startSmsc({ personality: 'unknown-receipts', changes: { receiptDelay: 20 } })
  smscs.push(smsc)
  const problems: unknown[] = []
  const report = (problem: unknown): void => void problems.push(problem)
  const url = `smpp://us:secret@127.0.0.1:${smsc.port}?queryUnknownSeconds=1`
  const carrier = smppCarrierFromUrl(url, { id: 'test', report })
  carriers.push(carrier)
  const ports = memoryPorts()
  const { id } = await anAccount(ports)
  const to = [aNumber('27825550101'), aNumber('27825550190')]
  const accepted = await ports.messages.accept(anOrder(id, { to }))
  const ids = typeof accepted === 'string' ? [] : accepted.results.flat().filter((one) => typeof one === 'number')
  const dispatcher = createDispatcher(ports, carrier, report)
  await until(() => carrier.availability() === 'available')
  await dispatcher.work('single')
  const seen: unknown[] = []
  await until(async () => {
    dispatcher.retry()
    const codes = (await ports.messages.status(id, ids, instant(0))).map((one) =>
      typeof one === 'string' ? one : one.code,
    )
    if (JSON.stringify(codes) !== JSON.stringify(seen.at(-1))) seen.push(codes)
    return seen.some((one) => JSON.stringify(one) === '[0,103]')
  })
  expect(seen).toContainEqual([106, 106])
  const queries = smsc.journal().flatMap(({ pdu }) => (pdu?.command === 'query_sm' ? [pdu] : []))
  expect(new Set(queries.map(({ messageId }) => messageId)).size).toBe(2)
  expect([queries.length, problems]).toEqual([2, []])
  const [message] = smsc.journal().flatMap(({ pdu }) => (pdu?.command === 'submit_sm' ? [pdu] : []))
  for (const query of queries) expect(query.sourceAddr).toBe(message?.sourceAddr)
  await dispatcher.drain(Promise.resolve())
})

test('two dispatchers together send at most 20 a second to a carrier with that rate, and both send', async () => {
  const smsc = await startSmsc({ changes: { receiptDelay: 20 } })
  smscs.push(smsc)
  const ports = memoryPorts()
  const { carrierBinds: binds, carrierRates: rates } = memoryCarrierShares()
  const sharing = { binds, rates, leaseSeconds: 4 }
  const problems: unknown[] = []
  const report = (problem: unknown): void => void problems.push(problem)
  const dispatchers = ['one', 'two'].map((systemType) => {
    const url = `smpp://us:secret@127.0.0.1:${smsc.port}?perSecond=20&systemType=${systemType}`
    const carrier = smppCarrier('test', smppSettingsFromUrl(url), { report }, sharing)
    carriers.push(carrier)
    return createDispatcher(ports, carrier, report)
  })
  const { id } = await anAccount(ports, { credits: 100_000 })
  await ports.messages.accept(anOrder(id, { to: numbers(3000) }))
  const looking = setInterval(() => dispatchers.forEach((one) => one.retry()), 50)
  const work = async (dispatcher: Dispatcher): Promise<void> => {
    while ((await dispatcher.work('bulk')) !== 'closed') await delay(10)
  }
  const working = dispatchers.map(work)
  const submits = () => smsc.journal().filter(({ event, pdu }) => event === 'received' && pdu?.command === 'submit_sm')
  await until(() => submits().length > 100, 60_000)
  clearInterval(looking)
  await Promise.all(dispatchers.map((one) => one.drain(Promise.resolve())))
  await Promise.all(working)
  const times = submits().map(({ at }) => at)
  // Counts over nine tenths of a second, because a PDU that is delayed on a busy machine arrives closer to the next
  // one.
  expect(Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 900).length))).toBeLessThan(22)
  const links = [...new Set(submits().map(({ link }) => link))]
  expect(links.map((one) => submits().filter(({ link }) => link === one).length > 5)).toEqual([true, true])
  expect(problems).toEqual([])
})

test.each(['throttling', 'queue-full'])('%s: the rate falls, nothing fails, and it recovers', async (name) => {
  const { carrier, submit, answers, outcomes, refusals, isBound } = await joined(name)
  await until(isBound)
  submit(35)
  const fallen = await until(() => (carrier.status().isThrottled ? carrier.status().perSecond : undefined))
  expect(fallen).toBeLessThanOrEqual(20)
  await until(() => answers.length === 35)
  expect(outcomes()).toEqual(all(35, 'accepted'))
  expect(refusals()).toBeGreaterThan(0)
  const settled = refusals()
  await until(() => (carrier.status().perSecond ?? Infinity) > fallen)
  expect(refusals()).toBe(settled)
})

test.each([
  ['receipts-first', 'as-is'],
  ['receipts-twice', 'as-is'],
  ['shuffled', 'as-is'],
  ['hexadecimal-ids', 'as-is'],
  ['huge-ids', 'as-is'],
  ['decimal-receipts', 'HEX'],
])('%s: every message is accepted under its own id, and gets its receipt (%s)', async (name, form) => {
  const {
    carrier,
    submit,
    submitted,
    answers,
    outcomes,
    unreported: untold,
    smsc,
    problems,
  } = await joined(name, { shuffle: 30 })
  submit(20)
  await until(() => answers.length === 20 && untold() === 0 && smsc.status().deliveriesWaiting === 0)
  expect(outcomes()).toEqual(all(20, 'accepted'))
  expect(new Set(answers.map((one) => ('reference' in one ? one.reference : undefined))).size).toBe(20)
  expect(submitted()).toHaveLength(20)
  expect(carrier.status().unreadable).toBe(0)
  const learned = () => (name === 'receipts-first' ? 'as-is' : carrier.status().receipts.form)
  // The form is learned only from ids with letters. Ids begin with the time, so few of the first twenty may contain
  // one. Then more messages are needed.
  for (let sent = 20; learned() === 'hex' && sent < 400; sent += 20) {
    submit(20)
    await until(() => answers.length === sent + 20 && untold() === 0 && smsc.status().deliveriesWaiting === 0)
  }
  expect(learned()).toBe(form)
  const notices = problems.filter((problem) => problem.includes('receiptId=') && !problem.includes('receiptId=hex'))
  expect(notices).toHaveLength(form === 'as-is' ? 0 : 1)
})

test('refused-numbers: messages to 96 are refused for now, and others are accepted', async () => {
  const { submit, answers, outcomes } = await joined('refused-numbers')
  submit(3, '96')
  submit(3)
  await until(() => answers.length === 6)
  expect(outcomes()).toEqual([...all(3, 'refused-for-now'), ...all(3, 'accepted')])
})

test('late: receipts after a restart of the carrier match their messages over the next link', async () => {
  const folder = await temporaryFolder()
  const {
    smsc,
    submit,
    answers,
    unreported: untold,
  } = await joined('late', { receiptDelay: 3_600_000 }, '', { folder })
  submit(20)
  await until(() => answers.length === 20)
  expect(untold()).toBe(20)
  await smsc.close()
  const next = await startSmsc({ port: smsc.port, folder })
  smscs.push(next)
  await until(() => untold() === 0 && next.status().deliveriesWaiting === 0)
  expect(next.journal().some(({ pdu }) => pdu?.command === 'submit_sm')).toBe(false)
})

test('half-open: a dead link is detected in bounded time, sent messages are unknown, and the next link works', async () => {
  const { smsc, carrier, submit, submitted, answers, outcomes, isBound } = await joined(
    ...(['default', {}, '&enquireSeconds=1&responseSeconds=60'] as const),
  )
  await until(isBound)
  smsc.become('half-open')
  const since = performance.now()
  submit(3)
  await until(() => carrier.status().lastError === 'the other side gave no sign of life')
  // Silence is detected after one second without data, one second for the enquire_link, and the ticks. The rest of the
  // limit allows for a busy machine.
  expect(performance.now() - since).toBeLessThan(15_000)
  smsc.become('default')
  submit(1)
  await until(() => answers.length === 4)
  expect(outcomes()).toEqual([...all(3, 'unknown'), 'accepted'])
  expect(submitted()).toHaveLength(4)
})

test('closes-before-answer: messages accepted without an answer are unknown, and never sent again', async () => {
  const { submit, submitted, answers, outcomes } = await joined(
    ...(['closes-before-answer', { closesBeforeAnswer: 3 }, '&window=1'] as const),
  )
  submit(7)
  await until(() => answers.length === 7)
  const three = ['accepted', 'accepted', 'unknown']
  expect(outcomes()).toEqual([...three, ...three, 'accepted'])
  expect(new Set(submitted()).size).toBe(submitted().length)
})

test('closes-after-answer: an answer that arrived counts; messages sent during the close are unknown, and never sent again', async () => {
  const {
    smsc,
    submit,
    submitted,
    answers,
    outcomes,
    unreported: untold,
  } = await joined(...(['closes-after-answer', { closesAfterAnswer: 3 }, '&window=1'] as const))
  submit(8)
  await until(() => answers.length === 8 && untold() === 0)
  const answered = smsc.journal().filter(({ pdu }) => pdu?.command === 'submit_sm_resp').length
  expect(outcomes().slice(0, 3)).toEqual(all(3, 'accepted'))
  expect(outcomes().filter((outcome) => outcome === 'accepted')).toHaveLength(answered)
  const crossed = outcomes().filter((outcome) => outcome === 'unknown').length
  expect(answered + crossed).toBe(8)
  expect(crossed).toBeLessThanOrEqual(2)
  expect(new Set(submitted()).size).toBe(submitted().length)
})

test('wrong-lengths: each one ends at most one session, no message is sent twice, and accepted ones are right', async () => {
  const {
    smsc,
    submit,
    submitted,
    answers,
    outcomes,
    unreported: untold,
  } = await joined(...(['wrong-lengths', { wrongLengthEvery: 2 }, '&window=1&responseSeconds=1'] as const))
  const wrong = () => smsc.journal().flatMap(({ wrongLength }) => wrongLength ?? [])
  for (let sent = 1; wrong().length < 5 && sent <= 30; sent++) {
    submit(1)
    await until(() => answers.length === sent)
  }
  expect(new Set(wrong()).size).toBe(5)
  expect(outcomes().filter((outcome) => outcome === 'unknown').length).toBeGreaterThanOrEqual(3)
  smsc.become('default', { receiptDelay: 20 })
  const before = answers.length
  submit(2)
  // After several silent probes the circuit may be open for up to 50 s.
  await until(() => answers.length === before + 2 && untold() === 0, 110_000)
  expect(outcomes().slice(before)).toEqual(all(2, 'accepted'))
  expect(outcomes()).not.toContain('refused')
  expect(new Set(submitted()).size).toBe(submitted().length)
})

test('odd-tails: octets after PDUs that are not a TLV lose no answer, receipt or message', async () => {
  const {
    smsc,
    carrier,
    submit,
    answers,
    outcomes,
    unreported: untold,
    inbound,
    isBound,
  } = await joined('odd-tails', {
    oddTailEvery: 1,
  })
  await until(isBound)
  submit(20)
  await until(() => answers.length === 20 && untold() === 0)
  expect(outcomes()).toEqual(all(20, 'accepted'))
  await smsc.inject({ from: '27825550101', to: '12025550100', text: 'Yes' }).acknowledged
  expect(inbound).toMatchObject([{ text: 'Yes' }])
  expect(carrier.status().unreadable).toBe(0)
})

test('resends-arrivals: copies of an arrival before its acknowledgement are one message', async () => {
  const { smsc, inbound, isBound } = await joined('resends-arrivals')
  await until(isBound)
  await smsc.inject({ from: '27825550101', to: '12025550100', text: 'STOP' }).acknowledged
  expect(inbound).toHaveLength(3)
  expect(new Set(inbound.map(({ offer }) => offer)).size).toBe(1)
  expect(inbound[0]).toMatchObject({ from: '27825550101', to: '12025550100', text: 'STOP' })
})

test('refuses-binds: binds are retried with pauses, messages return to the queue, and work resumes after a bind', async () => {
  const { smsc, submit, answers, outcomes, problems, carrier } = await joined('refuses-binds', {}, '&holdSeconds=1')
  const binds = () => smsc.journal().filter(({ pdu }) => pdu?.command === 'bind_transceiver').length
  submit(2)
  const since = performance.now()
  await until(() => answers.length === 2 && binds() >= 3)
  // The carrier waits at least half a second between two binds.
  expect(binds()).toBeLessThanOrEqual(2 + (performance.now() - since) / 500)
  expect(outcomes()).toEqual(all(2, 'refused-for-now'))
  expect(carrier.status().lastError).toContain('ESME_RBINDFAIL')
  expect(problems.join()).not.toContain('secret')
  smsc.become('default')
  submit(1)
  await until(() => answers.length === 3)
  expect(answers.at(-1)?.outcome).toBe('accepted')
})

test('answers-binds-only: sent messages are unknown, and no more are sent until a probe', async () => {
  const bounds = '&silentSeconds=1&responseSeconds=2&holdSeconds=1'
  const { carrier, submit, submitted, answers, outcomes } = await joined('answers-binds-only', {}, bounds)
  submit(1)
  await until(() => submitted().length === 1)
  await until(() => carrier.availability() === 'down')
  submit(5)
  await until(() => answers.length === 6)
  expect(outcomes()).toEqual(['unknown', ...all(5, 'refused-for-now')])
  expect(submitted()).toHaveLength(1)
})

test('slow-receipts: every receipt is accepted, however late', async () => {
  const { submit, answers, unreported: untold } = await joined('slow-receipts', { receiptsPerSecond: 20 })
  submit(10)
  await until(() => answers.length === 10 && untold() === 0)
})

test('each personality has a test of its behaviour, and each but the default a test of how the gateway handles it', async () => {
  const text = async (name: string) => readFile(fileURLToPath(new URL(name, import.meta.url)), 'utf8')
  const [ofServer, ofGateway] = [await text('personalities.test.ts'), await text('smpp-carrier.test.ts')]
  const isNamed = (source: string) => (name: string) => source.includes(`'${name}`)
  const names = Object.keys(PERSONALITIES)
  expect(names.filter((name) => !isNamed(ofServer)(name))).toEqual([])
  expect(names.filter((name) => name !== 'default' && !isNamed(ofGateway)(name))).toEqual([])
})
