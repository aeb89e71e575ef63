import { COMMAND_STATUS, noTlvs } from '@gateway/smpp'
import { until } from '@gateway/core/testing'
import { bound, connected, receiptIdOf, statesFor, submitSm, type Esme } from '../testing/esme.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { personality } from './personalities.ts'
import type { Smsc, SmscSettings } from './settings.ts'
import { startSmsc } from './start-smsc.ts'

const running: (Smsc | Esme)[] = []
afterEach(async () => {
  for (const each of running.splice(0)) await each.close()
})

async function start(settings: SmscSettings = {}): Promise<Smsc> {
  const smsc = await startSmsc({ retryMilliseconds: 20, ...settings })
  running.unshift(smsc)
  return smsc
}

async function bind(smsc: Smsc, as: Parameters<typeof bound>[1] = {}): Promise<Esme> {
  const esme = await bound(smsc.port, as)
  running.push(esme)
  return esme
}

/** Starts a server of this personality with quick receipts, and binds a client. */
async function pair(name: string, changes: SmscSettings['changes'] = {}) {
  const smsc = await start({ personality: name, changes: { receiptDelay: 20, ...changes } })
  return { smsc, esme: await bind(smsc) }
}

const number = (ending: string): string => `278255501${ending}`

test.each([
  ['90', ['UNDELIV']],
  ['91', ['EXPIRED']],
  ['92', ['REJECTD']],
  ['00', ['DELIVRD']],
  ['98', ['DELIVRD', 'UNDELIV']],
])('default: a number that ends in %s is accepted, and its receipts say %j in this order', async (ending, states) => {
  const { esme } = await pair('default')
  esme.submit(number(ending))
  await until(() => statesFor(esme, number(ending)).length === states.length)
  expect(statesFor(esme, number(ending))).toEqual(states)
  const [response] = esme.responses()
  expect(response?.status).toBe(0)
  expect(esme.delivered().map(receiptIdOf)).toEqual(states.map(() => response?.messageId))
})

test('default: 93 is refused, 95 is never answered, 94 has no receipt, and other messages do not wait for them', async () => {
  const { smsc, esme } = await pair('default')
  esme.submit(number('93'), number('95'), number('94'), number('00'))
  await until(() => statesFor(esme, number('00')).length === 1)
  expect(esme.responses().map(({ sequence, status }) => [sequence, status])).toEqual([
    [100, COMMAND_STATUS.ESME_RINVDSTADR],
    [102, 0],
    [103, 0],
  ])
  expect(esme.delivered()).toHaveLength(1)
  expect(smsc.status()).toMatchObject({ windowMax: 4, links: [{ unansweredSubmissions: 1 }] })
})

test('default: each message to 96 is refused for now twice and then accepted', async () => {
  const { esme } = await pair('default')
  const statuses = []
  for (let turn = 0; turn < 4; turn++) {
    esme.submit(number('96'))
    await until(() => esme.responses().length === turn + 1)
    statuses.push(esme.responses()[turn]?.status)
  }
  const { ESME_RSYSERR } = COMMAND_STATUS
  expect(statuses).toEqual([ESME_RSYSERR, ESME_RSYSERR, 0, ESME_RSYSERR])
})

test('refused-numbers: a message to 96 is refused for now every time', async () => {
  const { esme } = await pair('refused-numbers')
  for (let turn = 1; turn <= 4; turn++) {
    esme.submit(number('96'))
    await until(() => esme.responses().length === turn)
  }
  expect(new Set(esme.responses().map(({ status }) => status))).toEqual(new Set([COMMAND_STATUS.ESME_RSYSERR]))
})

test('default: each part of a message to 96 is refused for now twice, whatever the reference of the parts', async () => {
  const { esme } = await pair('default')
  const part = (reference: number, position: number) => {
    const header = Buffer.from([5, 0, 3, reference, 2, position])
    const shortMessage = Buffer.concat([header, Buffer.from('half of it')])
    return { ...submitSm(number('96'), 10 * reference + position), esmClass: 0x40, shortMessage }
  }
  for (const reference of [1, 2, 3]) esme.send(part(reference, 1), part(reference, 2))
  await until(() => esme.responses().length === 6)
  const { ESME_RSYSERR } = COMMAND_STATUS
  expect(esme.responses().map(({ status }) => status)).toEqual([...Array<number>(4).fill(ESME_RSYSERR), 0, 0])
})

test('default: the receipt of 97 is sent before its response', async () => {
  const { esme } = await pair('default')
  esme.submit(number('97'))
  await until(() => esme.responses().length === 1)
  const commands = esme.received.map(({ command }) => command)
  expect(commands).toEqual(['bind_transceiver_resp', 'deliver_sm', 'submit_sm_resp'])
})

test('default: responses to submissions that arrive together are sent before their receipts, even without delay', async () => {
  const { esme } = await pair('default', { receiptDelay: 0 })
  esme.submit(number('00'), number('01'), number('02'))
  await until(() => esme.delivered().length === 3)
  const commands = esme.received.map(({ command }) => command)
  const answers = Array<string>(3).fill('submit_sm_resp')
  expect(commands).toEqual(['bind_transceiver_resp', ...answers, ...Array<string>(3).fill('deliver_sm')])
})

test('default: 88 replies once to the same sender, after the receipt was acknowledged', async () => {
  const { esme } = await pair('default')
  esme.deliverStatus = COMMAND_STATUS.ESME_RX_T_APPN
  esme.submit(number('88'), number('88'))
  await until(() => statesFor(esme, number('88')).length >= 4)
  const replies = () => esme.delivered().filter(({ esmClass }) => esmClass === 0)
  expect(replies()).toEqual([])
  esme.deliverStatus = 0
  await until(() => replies().length > 0)
  esme.submit(number('00'))
  await until(() => statesFor(esme, number('00')).length === 1)
  expect(replies()).toMatchObject([
    { sourceAddr: number('88'), destinationAddr: '12025550100', shortMessage: Buffer.from('Yes, thank you') },
  ])
})

test('default: receipts are sent only if requested, or requested for failures', async () => {
  const { esme } = await pair('default')
  esme.send(
    { ...submitSm(number('01'), 5), registeredDelivery: 0 },
    { ...submitSm(number('02'), 6), registeredDelivery: 2 },
    { ...submitSm(number('90'), 7), registeredDelivery: 2 },
    { ...submitSm(number('03'), 8), registeredDelivery: 1 },
  )
  await until(() => statesFor(esme, number('03')).length === 1)
  expect(esme.delivered().map(({ sourceAddr }) => sourceAddr)).toEqual([number('90'), number('03')])
})

test('slow: responses are sent one after another at the configured rate', async () => {
  const { smsc, esme } = await pair('slow', { answersPerSecond: 10 })
  const began = performance.now()
  esme.submit(...Array.from({ length: 6 }, (_, at) => number(`1${at}`)))
  await until(() => esme.responses().length === 6)
  expect(performance.now() - began).toBeGreaterThan(480)
  expect(smsc.status().windowMax).toBe(6)
})

test.each([
  ['throttling', COMMAND_STATUS.ESME_RTHROTTLED],
  ['queue-full', COMMAND_STATUS.ESME_RMSGQFUL],
])('%s: beyond its rate it refuses with its status and takes nothing', async (name, status) => {
  const { esme } = await pair(name, { submitsPerSecond: 3 })
  esme.submit(...Array.from({ length: 20 }, (_, at) => number(`${10 + at}`)))
  await until(() => esme.responses().length === 20)
  const refused = esme.responses().filter((response) => response.status === status)
  // 3 of 20 submissions are accepted if all arrive within one second of the clock, and 6 if the second changes in
  // between.
  expect([14, 17]).toContain(refused.length)
  await until(() => esme.delivered().length === 20 - refused.length)
})

test('receipts-first: every receipt is sent before its response', async () => {
  const { esme } = await pair('receipts-first')
  esme.submit(number('01'), number('02'))
  await until(() => esme.responses().length === 2)
  expect(esme.received.slice(1, 3).map(({ command }) => command)).toEqual(['deliver_sm', 'deliver_sm'])
})

test('receipts-twice: every receipt is sent twice with the same id', async () => {
  const { esme } = await pair('receipts-twice')
  esme.submit(number('98'))
  await until(() => esme.delivered().length === 4)
  expect(statesFor(esme, number('98'))).toEqual(['DELIVRD', 'DELIVRD', 'UNDELIV', 'UNDELIV'])
  expect(new Set(esme.delivered().map(receiptIdOf)).size).toBe(1)
})

test('shuffled: all responses and receipts arrive, in another order than the submissions', async () => {
  const { esme } = await pair('shuffled', { shuffle: 100 })
  const numbers = Array.from({ length: 60 }, (_, at) => number(`2${String(at).padStart(2, '0')}7`))
  esme.submit(...numbers)
  await until(() => esme.delivered().length === 60)
  const sequences = esme.responses().map(({ sequence }) => sequence)
  expect(sequences).not.toEqual(sequences.toSorted((a, b) => a - b))
  expect(
    esme
      .delivered()
      .map(({ sourceAddr }) => sourceAddr)
      .toSorted(),
  ).toEqual(numbers)
})

test.each([
  ['default', /^\d{10,17}$/, /^\d{10,17}$/],
  ['hexadecimal-ids', /^[0-9A-F]{10,14}$/, /^[0-9A-F]{10,14}$/],
  ['huge-ids', /^\d{60}$/, /^\d{60}$/],
  ['decimal-receipts', /^[0-9A-F]{10,14}$/, /^\d{10,17}$/],
])(
  '%s: ids of answers and of receipts have their forms and name the same number',
  async (name, answered, receipted) => {
    const { esme } = await pair(name)
    esme.submit(number('01'))
    await until(() => esme.delivered().length === 1)
    const [id = '', receiptId = ''] = [esme.responses()[0]?.messageId, esme.delivered().map(receiptIdOf)[0]]
    expect(id).toMatch(answered)
    expect(receiptId).toMatch(receipted)
    expect(name === 'decimal-receipts' ? String(parseInt(id, 16)) : id).toBe(receiptId)
  },
)

test('late: receipts wait for their time, and are sent after a restart with the same ids', async () => {
  const folder = await temporaryFolder()
  const first = await start({ personality: 'late', folder })
  const before = await bind(first)
  before.submit(number('98'), number('88'))
  await until(() => before.responses().length === 2)
  const ids = before.responses().map(({ messageId }) => messageId)
  await first.close()
  const second = await start({ folder, changes: { receiptDelay: 10 } })
  const after = await bind(second)
  await until(() => after.delivered().length === 4)
  const receipts = after.delivered().filter(({ esmClass }) => esmClass === 4)
  expect([...new Set(receipts.map(receiptIdOf))].toSorted()).toEqual(ids.toSorted())
  expect(after.delivered().some(({ shortMessage }) => shortMessage.equals(Buffer.from('Yes, thank you')))).toBe(true)
  await until(() => second.status().deliveriesWaiting === 0)
  await second.close()
  const third = await bind(await start({ folder, changes: { receiptDelay: 10 } }))
  third.submit(number('01'))
  await until(() => third.delivered().length > 0)
  expect(third.delivered().map(({ sourceAddr }) => sourceAddr)).toEqual([number('01')])
  expect(ids).not.toContain(third.responses()[0]?.messageId)
})

test('half-open: a bound link gets no response, not even to enquire_link, until the personality changes', async () => {
  const { smsc, esme } = await pair('default')
  smsc.become('half-open')
  esme.submit(number('01'))
  esme.send({ command: 'enquire_link', status: 0, sequence: 7, tlvs: noTlvs })
  const { acknowledged } = smsc.inject({ from: number('01'), to: '12025550100', text: 'anybody?' })
  await until(() => smsc.journal().some(({ pdu }) => pdu?.command === 'enquire_link'))
  const binds = await bind(smsc)
  expect(binds.received).toMatchObject([{ command: 'bind_transceiver_resp', status: 0 }])
  expect(esme.received).toHaveLength(1)
  smsc.become('default')
  await acknowledged
  expect(esme.received.some(({ command }) => command === 'submit_sm_resp')).toBe(false)
})

test('closes-before-answer: the message is accepted, the link closes without a response, and the next link gets the receipt', async () => {
  const { smsc, esme } = await pair('closes-before-answer', { closesBeforeAnswer: 2 })
  esme.submit(number('01'), number('02'), number('03'))
  await until(() => esme.isClosed)
  expect(esme.responses()).toHaveLength(1)
  const next = await bind(smsc)
  await until(() => [...esme.delivered(), ...next.delivered()].some(({ sourceAddr }) => sourceAddr === number('02')))
})

test('closes-after-answer: the link closes after the response', async () => {
  const { esme } = await pair('closes-after-answer', { closesAfterAnswer: 2 })
  esme.submit(number('01'), number('02'), number('03'))
  await until(() => esme.isClosed)
  expect(esme.responses()).toHaveLength(2)
})

test('odd-tails: every second PDU has one to three octets more than its fields need', async () => {
  const { esme } = await pair('odd-tails', { oddTailEvery: 2 })
  esme.submit(number('00'), number('01'), number('02'))
  await until(() => esme.delivered().length === 3)
  expect(esme.malformed()).toEqual([])
  expect(esme.responses().map(({ status }) => status)).toEqual([0, 0, 0])
})

test('wrong-lengths: a response has a wrong command_length, and the receipt of its message is still sent', async () => {
  const { smsc, esme } = await pair('wrong-lengths', { wrongLengthEvery: 2 })
  esme.submit(number('01'), number('02'))
  await until(() => esme.malformed().length === 1)
  expect(esme.malformed()).toMatchObject([{ reason: 'command-length-too-small' }])
  esme.close()
  const next = await bind(smsc)
  await until(() => next.delivered().some(({ sourceAddr }) => sourceAddr === number('02')))
})

test('resends-arrivals: an arrival is sent three times, acknowledged or not', async () => {
  const { smsc, esme } = await pair('resends-arrivals')
  await smsc.inject({ from: number('01'), to: '12025550100', text: 'hi' }).acknowledged
  expect(esme.delivered()).toHaveLength(3)
})

test('refuses-binds: a bind is refused with ESME_RBINDFAIL, and submissions are not accepted', async () => {
  const { esme } = await pair('refuses-binds')
  esme.submit(number('01'))
  await until(() => esme.responses().length === 1)
  expect(esme.received[0]).toMatchObject({ status: COMMAND_STATUS.ESME_RBINDFAIL })
  expect(esme.responses()[0]?.status).toBe(COMMAND_STATUS.ESME_RINVBNDSTS)
})

test('a link that sends a wrong length gets a generic_nack and is closed; others go on', async () => {
  const { smsc, esme } = await pair('default')
  const hostile = await connected(smsc.port)
  hostile.write(Buffer.from('00000003ffffffff', 'hex'))
  await until(() => hostile.isClosed)
  expect(hostile.received).toMatchObject([{ command: 'generic_nack', status: COMMAND_STATUS.ESME_RINVCMDLEN }])
  esme.submit(number('01'))
  await until(() => esme.delivered().length === 1)
})

test('binds: credentials, the number of binds, and the operations of receivers and transmitters are checked', async () => {
  const smsc = await start({ systemId: 'me', password: 'secret', bindsMax: 2, changes: { receiptDelay: 10 } })
  expect((await bind(smsc, { systemId: 'you' })).received[0]?.status).toBe(COMMAND_STATUS.ESME_RINVSYSID)
  expect((await bind(smsc, { password: 'wrong' })).received[0]?.status).toBe(COMMAND_STATUS.ESME_RINVPASWD)
  const transmitter = await bind(smsc, { command: 'bind_transmitter' })
  const receiver = await bind(smsc, { command: 'bind_receiver' })
  expect((await bind(smsc)).received[0]?.status).toBe(COMMAND_STATUS.ESME_RALYBND)
  transmitter.submit(number('01'))
  receiver.submit(number('02'))
  await until(() => receiver.delivered().length === 1 && receiver.responses().length === 1)
  expect(receiver.responses()[0]?.status).toBe(COMMAND_STATUS.ESME_RINVBNDSTS)
  expect(transmitter.delivered()).toEqual([])
  expect(smsc.status().bindsMax).toBe(2)
})

test('a deliver_sm that is not acknowledged is sent again: to the next link, after a refusal for now, after the time-out', async () => {
  const smsc = await start({ responseTimeoutMilliseconds: 100 })
  const first = await bind(smsc)
  first.deliverStatus = undefined
  const { acknowledged } = smsc.inject({ from: number('01'), to: '1', text: 'hi' })
  await until(() => first.delivered().length >= 2)
  first.deliverStatus = COMMAND_STATUS.ESME_RX_T_APPN
  const seen = first.delivered().length
  await until(() => first.delivered().length >= seen + 2)
  first.close()
  const second = await bind(smsc)
  await acknowledged
  expect(second.delivered()).toHaveLength(1)
})

test('an unknown personality or field is rejected with an error that names it', () => {
  expect(() => personality('mean')).toThrow('There is no personality "mean"; there are default, slow')
  expect(() => personality('slow', { speed: 1 })).toThrow('no field "speed"')
  expect(() => personality('slow', { idForm: 'octal' })).toThrow('idForm cannot be "octal"')
  expect(() => personality('slow', { answersPerSecond: -1 })).toThrow('answersPerSecond cannot be -1')
})

test('answers-binds-only: enquire_link gets a response, and a submission never does', async () => {
  const { smsc, esme } = await pair('answers-binds-only')
  esme.submit(number('00'))
  esme.send({ command: 'enquire_link', status: 0, sequence: 7, tlvs: noTlvs })
  await until(() => esme.received.some(({ command, sequence }) => command === 'enquire_link_resp' && sequence === 7))
  expect(esme.responses()).toEqual([])
  expect(smsc.status().links).toMatchObject([{ unansweredSubmissions: 1 }])
})

test('slow-receipts: responses are sent at once, and receipts one after another', async () => {
  const { smsc, esme } = await pair('slow-receipts', { receiptsPerSecond: 20 })
  esme.submit(...Array.from({ length: 10 }, () => number('00')))
  await until(() => esme.responses().length === 10)
  await until(() => esme.delivered().length === 10)
  const sent = smsc.journal().filter(({ event, pdu }) => event === 'sent' && pdu?.command === 'deliver_sm')
  expect((sent.at(-1)?.at ?? 0) - (sent[0]?.at ?? 0)).toBeGreaterThan(350)
})

test('unknown-receipts: receipts report the state UNKNOWN, and query_sm the actual state', async () => {
  const { esme } = await pair('unknown-receipts')
  esme.submit(number('90'))
  await until(() => statesFor(esme, number('90')).length === 1)
  expect(statesFor(esme, number('90'))).toEqual(['UNKNOWN'])
  const messageId = esme.responses()[0]?.messageId ?? ''
  const source = { sourceAddrTon: 1, sourceAddrNpi: 1, sourceAddr: '12025550100' }
  esme.send({ command: 'query_sm', status: 0, sequence: 7, messageId, ...source, tlvs: noTlvs })
  const answered = await until(() => esme.received.find(({ command }) => command === 'query_sm_resp'))
  expect(answered).toMatchObject({ status: 0, messageId, messageState: 5 })
})
