import fc from 'fast-check'
import { createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import {
  bodyOf,
  instant,
  type Body,
  type Carrier,
  type CarrierHandlers,
  type DeliveryReceipt,
  type InboundMessage,
  type KeptUnreadReceipt,
  type Submission,
  type SubmissionAnswer,
  type UnreadReceipt,
  type UnreadReceiptId,
} from '@gateway/core'
import { carrierContract } from '@gateway/core/contracts'
import { aMessageId, aBody, anAddress, aNumber, numbers, until } from '@gateway/core/testing'
import { anyPdu, bytes } from '../testing/any-pdu.ts'
import {
  COMMAND_STATUS,
  encodePdu,
  integerTlv,
  noTlvs,
  pduReader,
  textTlv,
  TLV_TAG,
  type DataSm,
  type DeliverSm,
  type Pdu,
  type ReceivedPdu,
  type SubmitSm,
} from './pdu/index.ts'
import { smppDefaults, type SmppSettings } from './settings.ts'
import { smppCarrier, type SmppCarrier } from './smpp-carrier.ts'

const never = new Promise<never>(() => undefined)

type Reply = Pdu | 'silence' | 'close'

interface Connection {
  readonly socket: Socket
  readonly send: (pdu: Pdu) => void
}

/** An SMSC of a few lines. What a test does not say, it does as every SMSC. */
async function anSmsc(
  answer: (pdu: SubmitSm, connection: Connection, nth: number) => Reply | undefined = () => undefined,
) {
  const connections = new Set<Connection>()
  const received: ReceivedPdu[] = []
  const submits: SubmitSm[] = []
  const chunks: number[] = []
  let sequence = 1
  let ids = 0
  let onPdu: (pdu: ReceivedPdu, connection: Connection) => boolean = () => false
  const respond = (pdu: ReceivedPdu, rest: Partial<Pdu> = {}): Pdu =>
    ({ command: `${pdu.command}_resp`, status: 0, sequence: pdu.sequence, tlvs: noTlvs, ...rest }) as Pdu
  const server: Server = createServer((socket) => {
    const connection = { socket, send: (pdu: Pdu) => void socket.write(encodePdu(pdu)) }
    connections.add(connection)
    const reader = pduReader()
    socket.on('error', () => undefined)
    socket.on('close', () => connections.delete(connection))
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk.length)
      for (const pdu of reader.read(chunk)) {
        received.push(pdu)
        if (onPdu(pdu, connection)) continue
        if (pdu.command === 'submit_sm') {
          submits.push(pdu)
          const reply = answer(pdu, connection, submits.length)
          if (reply === 'close') socket.destroy()
          else if (reply !== 'silence') connection.send(reply ?? respond(pdu, { messageId: `id-${++ids}` }))
        } else if (pdu.command.startsWith('bind')) connection.send(respond(pdu, { systemId: 'smsc' }))
        else if (pdu.command === 'enquire_link' || pdu.command === 'unbind') connection.send(respond(pdu))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    received,
    submits,
    chunks,
    respond,
    on: (handler: typeof onPdu) => void (onPdu = handler),
    /** Sends a deliver_sm and resolves to the status of its response. */
    deliver: async (pdu: Partial<DeliverSm>): Promise<number> => {
      const number = sequence++
      const [connection] = connections
      connection?.send({ ...aDelivery, ...pdu, sequence: number })
      const isAnswer = (one: ReceivedPdu) => one.command === 'deliver_sm_resp' && one.sequence === number
      await until(() => received.some(isAnswer))
      const found = received.find(isAnswer)
      return found === undefined ? -1 : found.status
    },
    stop: () => {
      for (const { socket } of connections) socket.destroy()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

const aDelivery: DeliverSm = {
  ...{ command: 'deliver_sm', status: 0, sequence: 1, tlvs: noTlvs, serviceType: '' },
  ...{ sourceAddrTon: 1, sourceAddrNpi: 1, sourceAddr: '27825550101', destAddrTon: 1, destAddrNpi: 1 },
  ...{ destinationAddr: '12025550100', esmClass: 0, protocolId: 0, priorityFlag: 0, scheduleDeliveryTime: '' },
  ...{ validityPeriod: '', registeredDelivery: 0, replaceIfPresentFlag: 0, dataCoding: 0, smDefaultMsgId: 0 },
  shortMessage: Buffer.alloc(0),
}

const aNack = ({ sequence }: ReceivedPdu): Pdu => ({
  ...{ command: 'generic_nack', status: COMMAND_STATUS.ESME_RINVCMDID, sequence, tlvs: noTlvs },
})

type Smsc = Awaited<ReturnType<typeof anSmsc>>
const smscs: Smsc[] = []
const carriers: Carrier[] = []

afterEach(async () => {
  await Promise.all(carriers.splice(0).map((carrier) => carrier.close(Promise.resolve())))
  await Promise.all(smscs.splice(0).map((smsc) => smsc.stop()))
})

interface Started {
  readonly smsc: Smsc
  readonly carrier: SmppCarrier
  readonly answers: SubmissionAnswer[]
  readonly receipts: DeliveryReceipt[]
  readonly inbound: InboundMessage[]
  readonly problems: unknown[]
  readonly recovered: string[]
  readonly submit: (...bodies: readonly Body[]) => void
  readonly submitOne: (more: Partial<Submission>) => Promise<readonly SubmissionAnswer[]>
}

async function start(
  settings: Partial<SmppSettings> = {},
  answer?: Parameters<typeof anSmsc>[0],
  store: (receipts: readonly DeliveryReceipt[]) => Promise<readonly DeliveryReceipt[]> = () => Promise.resolve([]),
  more: Partial<CarrierHandlers> = {},
): Promise<Started> {
  const smsc = await anSmsc(answer)
  smscs.push(smsc)
  const problems: unknown[] = []
  const recovered: string[] = []
  const carrier = smppCarrier(
    'test',
    {
      ...smppDefaults,
      host: '127.0.0.1',
      port: smsc.port,
      systemId: 'us',
      password: 'secret',
      reconnectSeconds: 0.02,
      // The circuit breaker has tests of its own: here no number of failures opens it.
      failuresPercent: 101,
      ...settings,
    },
    { report: (problem) => problems.push(problem), works: (what) => recovered.push(what) },
  )
  carriers.push(carrier)
  const answers: SubmissionAnswer[] = []
  const receipts: DeliveryReceipt[] = []
  const inbound: InboundMessage[] = []
  carrier.listen({
    receipts: async (some) => {
      const unknown = await store(some)
      receipts.push(...some.filter((one) => !unknown.includes(one)))
      return unknown
    },
    inboundMessages: (some) => Promise.resolve(void inbound.push(...some)),
    ...more,
  })
  let id = 0
  const submit = (...bodies: readonly Body[]): void =>
    carrier.submit(
      bodies.map((body): Submission => ({ id: aMessageId(++id), from: anAddress(), to: aNumber('27825550101'), body })),
      (some) => void answers.push(...some),
    )
  const submitOne = (more: Partial<Submission>): Promise<readonly SubmissionAnswer[]> =>
    new Promise((resolve) =>
      carrier.submit(
        [{ id: aMessageId(++id), from: anAddress(), to: aNumber('27825550101'), body: aBody(), ...more }],
        resolve,
      ),
    )
  return { smsc, carrier, answers, receipts, inbound, problems, recovered, submit, submitOne }
}

/** Of receipts that could not be read. */
function aStore() {
  const store = {
    isAway: false,
    kept: [] as readonly KeptUnreadReceipt[],
    keep(receipts: readonly UnreadReceipt[]): Promise<void> {
      if (store.isAway) return Promise.reject(new Error('away'))
      const kept = receipts.map((one, at) => ({ ...one, id: (store.kept.length + at + 1) as UnreadReceiptId }))
      store.kept = [...store.kept, ...kept.map((one) => ({ ...one, at: instant(0) }))]
      return Promise.resolve()
    },
    list: (after = 0 as UnreadReceiptId, countMax: number) =>
      Promise.resolve(store.kept.filter(({ id }) => id > after).slice(0, countMax)),
    drop(ids: readonly UnreadReceiptId[]): Promise<void> {
      store.kept = store.kept.filter(({ id }) => !ids.includes(id))
      return Promise.resolve()
    },
  }
  return store
}

const long = (characters: number): Body => {
  const body = bodyOf('a'.repeat(characters))
  if (typeof body === 'string') throw new Error(body)
  return body
}
const many = (count: number) => Array.from({ length: count }, () => aBody())
const outcomes = (answers: readonly SubmissionAnswer[]) => answers.map(({ outcome }) => outcome)
/** A relative time, a second earlier. */
function aSecondLess(period: string): string {
  const two = (at: number): number => Number(period.slice(at, at + 2))
  const seconds = ((two(4) * 24 + two(6)) * 60 + two(8)) * 60 + two(10) - 1
  const parts = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ]
  return `0000${parts.map((part) => String(part).padStart(2, '0')).join('')}000R`
}
const refusal = (pdu: SubmitSm, status: number): Pdu => ({
  ...{ command: 'submit_sm_resp', status, sequence: pdu.sequence, messageId: '', tlvs: noTlvs },
})

describe('submissions', () => {
  test('a message goes out as it should: numbers, text, and a receipt asked for', async () => {
    const { smsc, answers, submit } = await start()
    submit(aBody('Hi €'))
    await until(() => answers.length === 1)
    expect(answers).toEqual([{ id: 1, outcome: 'accepted', reference: 'id-1' }])
    expect(smsc.submits[0]).toMatchObject({
      ...{ sourceAddr: '12025550100', sourceAddrTon: 1, sourceAddrNpi: 1 },
      ...{ destinationAddr: '27825550101', destAddrTon: 1, destAddrNpi: 1, esmClass: 0, dataCoding: 0 },
      registeredDelivery: 1,
      shortMessage: Buffer.from('4869201b65', 'hex'),
    })
  })

  test.each<[validSeconds: number | undefined, validityHours: number | undefined, period: string]>([
    [undefined, undefined, ''],
    [undefined, 49, '000002010000000R'],
    [undefined, 720, '000030000000000R'],
    [59.9, undefined, '000000000059000R'],
    [3600, 49, '000000010000000R'],
    [4320 * 60 - 1, undefined, '000002235959000R'],
    [4320 * 60, undefined, '000003000000000R'],
  ])(
    'of a message that is valid for %s s, and %s h by the settings, the validity_period is %j',
    async (validSeconds, validityHours, period) => {
      const { smsc, submitOne } = await start({ validityHours })
      const answers = await submitOne({ validSeconds })
      expect(outcomes(answers)).toEqual(['accepted'])
      const [sent = ''] = smsc.submits.map(({ validityPeriod }) => validityPeriod)
      // A second may pass before it leaves.
      expect([period, validSeconds === undefined ? '' : aSecondLess(period)]).toContain(sent)
    },
  )

  test('what is valid no longer when its turn comes is not submitted: it goes back to the queue, which ends it', async () => {
    const { smsc, submitOne } = await start({ perSecond: 1 })
    const answers = await Promise.all([submitOne({}), submitOne({ validSeconds: 0.2 }), submitOne({})])
    expect(answers.map(outcomes)).toEqual([['accepted'], ['refused-for-now'], ['accepted']])
    expect(smsc.submits).toHaveLength(2)
  })

  test('a receipt is asked for every part, and parts leave one behind the other', async () => {
    const { smsc, answers, submit } = await start({ window: 4 })
    submit(long(400), long(400), aBody())
    await until(() => answers.length === 3)
    expect(smsc.submits.map(({ registeredDelivery }) => registeredDelivery)).toEqual(smsc.submits.map(() => 1))
    const headers = smsc.submits.map(({ esmClass, shortMessage }) =>
      esmClass === 0x40 ? [...shortMessage.subarray(3, 6)] : [],
    )
    expect(headers.map(([, of, number]) => [of, number])).toEqual([
      ...[
        [3, 1],
        [3, 2],
        [3, 3],
      ],
      ...[
        [3, 1],
        [3, 2],
        [3, 3],
      ],
      [undefined, undefined],
    ])
    expect(new Set(headers.slice(0, 6).map(([reference]) => reference)).size).toBe(2)
  })

  test('the parts of a text leave one behind the other over one of several binds, also where its window is full', async () => {
    const ways: { readonly connection: Connection; readonly reference: number; readonly part: number }[] = []
    const { smsc, carrier, answers, submit } = await start({ binds: 3, window: 2 }, ({ shortMessage }, connection) => {
      ways.push({ connection, reference: shortMessage[3] ?? 0, part: shortMessage[5] ?? 0 })
      return undefined
    })
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    submit(...Array.from({ length: 12 }, () => long(400)))
    await until(() => answers.length === 12)
    expect(outcomes(answers)).toEqual(Array.from({ length: 12 }, () => 'accepted'))
    const used = [...smsc.connections].map((one) => ways.filter(({ connection }) => connection === one))
    expect(used.every((some) => some.length > 0)).toBe(true)
    for (const some of used) {
      expect(some.map(({ part }) => part)).toEqual(some.map((_, at) => (at % 3) + 1))
      for (const [at, { reference }] of some.entries()) expect(reference).toBe(some[at - (at % 3)]?.reference)
    }
  })

  test('fifty are under way at a time, in one write', async () => {
    const { smsc, carrier, answers, submit } = await start({ responseSeconds: 60 }, (_, __, nth) =>
      nth <= 200 ? undefined : 'silence',
    )
    submit(...many(200))
    await until(() => answers.length === 200)
    const before = smsc.chunks.length
    submit(...many(120))
    await until(() => smsc.submits.length === 250)
    expect(smsc.chunks.length - before).toBeLessThanOrEqual(2)
    expect(carrier.status().links).toMatchObject([{ role: 'transceiver', inUse: 50 }])
    for (const pdu of smsc.submits.slice(200, 210)) {
      ;[...smsc.connections][0]?.send(smsc.respond(pdu, { messageId: 'x' }))
    }
    await until(() => smsc.submits.length === 260)
    expect(answers).toHaveLength(210)
  })

  test.each([
    ['ESME_RINVDSTADR', 'refused'],
    ['ESME_RX_T_APPN', 'refused-for-now'],
    ['ESME_RSYSERR', 'refused-for-now'],
  ] as const)('%s: %s', async (status, outcome) => {
    const { answers, submit } = await start({}, (pdu) => refusal(pdu, COMMAND_STATUS[status]))
    submit(aBody())
    await until(() => answers.length === 1)
    expect(outcomes(answers)).toEqual([outcome])
  })

  test.each([
    ['for-now', 'refused-for-now', 1],
    ['final', 'refused', 1],
    ['throttle', 'accepted', 2],
    ['link', 'accepted', 2],
  ] as const)('the operator can say that an error is %s: %s', async (is, outcome, times) => {
    const [own, throttled] = [0x401, COMMAND_STATUS.ESME_RTHROTTLED]
    const errors = new Map([[is === 'final' ? throttled : own, is]])
    const { smsc, carrier, answers, submit } = await start({ errors }, (pdu, _, nth) =>
      nth === 1 ? refusal(pdu, is === 'final' ? throttled : own) : undefined,
    )
    submit(aBody())
    await until(() => answers.length === 1)
    expect(outcomes(answers)).toEqual([outcome])
    expect(smsc.submits).toHaveLength(times)
    expect(carrier.status().isThrottled).toBe(is === 'throttle')
    expect(smsc.received.filter(({ command }) => command === 'bind_transceiver')).toHaveLength(is === 'link' ? 2 : 1)
  })

  test('an error of the link: the message goes over the next one, and what else the carrier has keeps its answers', async () => {
    const { smsc, carrier, answers, submit } = await start({}, (_, __, nth) => (nth <= 3 ? 'silence' : undefined))
    submit(...many(3))
    await until(() => smsc.submits.length === 3)
    const [connection] = smsc.connections
    const [first, ...others] = smsc.submits
    if (first !== undefined) connection?.send(refusal(first, COMMAND_STATUS.ESME_RINVBNDSTS))
    // Who answers this has read the refusal.
    connection?.send({ command: 'enquire_link', status: 0, sequence: 77, tlvs: noTlvs })
    await until(() => smsc.received.some(({ sequence }) => sequence === 77))
    for (const pdu of others) connection?.send(smsc.respond(pdu, { messageId: `late-${pdu.sequence}` }))
    await until(() => answers.length === 3)
    expect(outcomes(answers)).toEqual(['accepted', 'accepted', 'accepted'])
    expect(answers.at(-1)).toMatchObject({ id: 1, reference: 'id-1' })
    expect(smsc.submits).toHaveLength(4)
    expect(carrier.status().lastError).toBe('a request was refused: ESME_RINVBNDSTS')
  })

  test('a carrier that unbinds may still answer what it has; the rest is unknown, and the next link works', async () => {
    const { smsc, answers, submit, recovered } = await start({}, (_, __, nth) => (nth <= 3 ? 'silence' : undefined))
    submit(...many(3))
    await until(() => smsc.submits.length === 3)
    const [connection] = smsc.connections
    connection?.send({ command: 'unbind', status: 0, sequence: 77, tlvs: noTlvs })
    connection?.send({ command: 'enquire_link', status: 0, sequence: 78, tlvs: noTlvs })
    await until(() => smsc.received.some(({ sequence }) => sequence === 78))
    for (const pdu of smsc.submits.slice(0, 2)) connection?.send(smsc.respond(pdu, { messageId: `${pdu.sequence}` }))
    submit(aBody())
    await until(() => answers.length === 4)
    expect(outcomes(answers)).toEqual(['accepted', 'accepted', 'unknown', 'accepted'])
    expect(smsc.received.find(({ sequence }) => sequence === 77)?.command).toBe('unbind_resp')
    expect(smsc.submits).toHaveLength(4)
    expect(recovered).toHaveLength(1)
  })

  test.each(['ESME_RTHROTTLED', 'ESME_RMSGQFUL'] as const)('%s slows the link and fails nothing', async (status) => {
    const { smsc, carrier, answers, submit } = await start({ window: 5 }, (pdu, _, nth) =>
      nth <= 5 ? refusal(pdu, COMMAND_STATUS[status]) : undefined,
    )
    submit(...many(6))
    await until(() => carrier.status().isThrottled)
    expect(smsc.submits).toHaveLength(5)
    await until(() => answers.length === 6)
    expect(outcomes(answers)).toEqual(Array.from({ length: 6 }, () => 'accepted'))
    expect(smsc.submits).toHaveLength(11)
  })

  test('a carrier that answers no submission gets probes only, and all again once ten were taken', async () => {
    let isSilent = true
    const settings = { silentSeconds: 0.3, probeSeconds: 0.1, responseSeconds: 60 }
    const { smsc, carrier, answers, problems, recovered, submit } = await start(settings, () =>
      isSilent ? 'silence' : undefined,
    )
    let changes = 0
    carrier.onAvailability?.(() => changes++)
    await until(() => carrier.availability?.() === 'available')
    expect(carrier.room()).toBe(1)
    submit(aBody())
    expect(carrier.room()).toBe(0)
    await until(() => carrier.availability?.() === 'throttled')
    await until(() => carrier.availability?.() === 'down')
    expect(carrier.status().circuit).toMatchObject({ state: 'open', reason: 'silent', silentSeconds: 0.3 })
    submit(aBody())
    carrier.handBack?.()
    await until(() => answers.length === 1)
    expect(answers).toEqual([{ id: 2, outcome: 'refused-for-now' }])
    expect(smsc.submits).toHaveLength(1)

    await until(() => carrier.availability?.() === 'probing')
    expect(changes).toBeGreaterThanOrEqual(3)
    expect(carrier.room()).toBe(1)
    isSilent = false
    for (let taken = 1; taken <= 10; taken++) {
      submit(...many(2))
      await until(() => smsc.submits.length >= 2 * taken + 1)
      await until(() => answers.length === 1 + 2 * taken)
    }
    expect(carrier.availability?.()).toBe('available')
    expect(carrier.room()).toBeGreaterThan(9)
    expect(problems.map(String)).toEqual([
      expect.stringContaining('it has answered no submission for 0.3 s or more; it gets no messages but probes'),
    ])
    expect(recovered).toEqual([expect.stringContaining('it answers again after')])
  })

  test('a carrier that refuses what it gets for now is opened by its share of refusals', async () => {
    const { carrier, answers, submit } = await start({ failuresPercent: 50, probeSeconds: 5 }, (pdu) =>
      refusal(pdu, COMMAND_STATUS.ESME_RSYSERR),
    )
    submit(...many(3))
    await until(() => answers.length === 3)
    expect(carrier.availability?.()).toBe('down')
    expect(carrier.status().circuit).toMatchObject({ state: 'open', reason: 'failing', failuresPercent: 50 })
  })

  test('a link that is cut before answers were due is no failure: what is left goes over the next one at once', async () => {
    const { carrier, answers, submit } = await start({ failuresPercent: 50, window: 3 }, (_, __, nth) =>
      nth === 3 ? 'close' : nth < 3 ? 'silence' : undefined,
    )
    submit(...many(5))
    await until(() => answers.length === 5)
    expect(outcomes(answers)).toEqual(['unknown', 'unknown', 'unknown', 'accepted', 'accepted'])
    expect(carrier.status().circuit).toMatchObject({ state: 'closed', reason: undefined })
  })

  test('the window that is told is the one that there is: it grows with answers, and is none without a bind', async () => {
    const { smsc, carrier, answers, submit } = await start({ responseSeconds: 30, window: 50 })
    await until(() => carrier.status().window === 10)
    submit(...many(300))
    await until(() => answers.length === 300)
    expect(carrier.status().window).toBe(50)
    await smsc.stop()
    await until(() => carrier.status().window === 0)
  })

  test('no more parts a second leave than the operator allows', async () => {
    const { smsc, answers, submit } = await start({ perSecond: 50 })
    const began = performance.now()
    submit(...many(20))
    await until(() => answers.length === 20)
    expect(performance.now() - began).toBeGreaterThanOrEqual(290)
    expect(smsc.submits).toHaveLength(20)
  })

  test('when the link dies, what left is unknown and what did not leave goes over the next one, once', async () => {
    const { smsc, answers, submit } = await start({ window: 3 }, (_, __, nth) =>
      nth === 3 ? 'close' : nth < 3 ? 'silence' : undefined,
    )
    submit(...many(5))
    await until(() => answers.length === 5)
    expect(outcomes(answers)).toEqual(['unknown', 'unknown', 'unknown', 'accepted', 'accepted'])
    expect(smsc.submits).toHaveLength(5)
  })

  test('no answer in time: unknown; it is not sent again', async () => {
    const { smsc, answers, submit } = await start({ responseSeconds: 0.1, window: 2 }, (_, __, nth) =>
      nth === 1 ? 'silence' : undefined,
    )
    submit(aBody(), aBody())
    await until(() => answers.length === 2)
    expect(outcomes(answers)).toEqual(['accepted', 'unknown'])
    expect(smsc.submits).toHaveLength(2)
  })

  test('a carrier that answers nothing at all loses its connection, and its window is not more than unknown', async () => {
    const { smsc, carrier, answers, submit } = await start(
      { responseSeconds: 0.1, window: 2, holdSeconds: 0.3 },
      () => 'silence',
    )
    submit(...many(2))
    await until(() => answers.length === 2 && carrier.status().lastError === 'requests got no answer')
    expect(outcomes(answers)).toEqual(['unknown', 'unknown'])
    expect(smsc.submits).toHaveLength(2)
  })

  test('a link that answers enquire_link and no submission is made again after one that got no answer', async () => {
    const { smsc, carrier, answers, submit } = await start(
      { responseSeconds: 0.3, enquireSeconds: 0.05 },
      (_, __, nth) => (nth === 1 ? 'silence' : undefined),
    )
    submit(aBody())
    await until(() => smsc.received.filter(({ command }) => command === 'bind_transceiver').length === 2)
    submit(aBody())
    await until(() => answers.length === 2)
    expect(outcomes(answers)).toEqual(['unknown', 'accepted'])
    expect(carrier.status().lastError).toBe('requests got no answer')
    const commands = smsc.received.map(({ command }) => command)
    expect(commands).toContain('enquire_link')
    expect(commands.filter((command) => command === 'unbind')).toHaveLength(1)
  })

  test('without a link a message goes back to the queue in bounded time', async () => {
    const { smsc, answers, submit } = await start({ holdSeconds: 0.2 })
    await smsc.stop()
    submit(aBody(), long(400))
    await until(() => answers.length === 2)
    expect(outcomes(answers)).toEqual(['refused-for-now', 'refused-for-now'])
  })

  test('a missing part alone is sent again, and the message is accepted once all are', async () => {
    const { smsc, answers, submit } = await start({}, (pdu, _, nth) =>
      nth === 2 ? refusal(pdu, COMMAND_STATUS.ESME_RX_T_APPN) : undefined,
    )
    submit(long(400))
    await until(() => answers.length === 1)
    expect(answers).toEqual([{ id: 1, outcome: 'accepted', reference: 'id-1', furtherReferences: ['id-3', 'id-2'] }])
    expect(smsc.submits.map(({ shortMessage }) => shortMessage[5])).toEqual([1, 2, 3, 2])
  })

  test('a part that is missing for good: what the carrier has is not sent again, and the message has failed', async () => {
    const { smsc, answers, submit } = await start({}, (pdu, _, nth) =>
      nth === 2 ? refusal(pdu, COMMAND_STATUS.ESME_RINVDSTADR) : undefined,
    )
    submit(long(400))
    await until(() => answers.length === 1)
    expect(answers).toEqual([{ id: 1, outcome: 'partly', reference: 'id-1', furtherReferences: ['id-2'] }])
    expect(smsc.submits).toHaveLength(3)
  })

  test('all parts refused for now: the message goes back to the queue as a whole', async () => {
    const { answers, submit } = await start({}, (pdu) => refusal(pdu, COMMAND_STATUS.ESME_RX_T_APPN))
    submit(long(400))
    await until(() => answers.length === 1)
    expect(outcomes(answers)).toEqual(['refused-for-now'])
  })
})

describe('links', () => {
  test('a system id and a password longer than SMPP 3.4 has room for are sent, with a warning without them', async () => {
    const { smsc, problems } = await start({ systemId: 'operator-of-the-gateway', password: 'long-password' })
    await until(() => smsc.received.length > 0)
    expect(smsc.received[0]).toMatchObject({ systemId: 'operator-of-the-gateway', password: 'long-password' })
    expect(problems.map(String)).toEqual([
      expect.stringContaining('the system id has more than the 15 characters'),
      expect.stringContaining('the password has more than the 8 characters'),
    ])
    expect(problems.map(String).join()).not.toContain('long-password')
  })

  test('drained, it unbinds once nothing is unanswered, and it binds again', async () => {
    let last: SubmitSm | undefined
    const { smsc, carrier, answers, submit } = await start({ binds: 2 }, (pdu) => {
      last = pdu
      return 'silence'
    })
    const bound = () => carrier.status().links.filter(({ boundSince }) => boundSince !== undefined).length
    const unbinds = () => smsc.received.filter(({ command }) => command === 'unbind').length
    await until(() => bound() === 2)
    submit(aBody())
    await until(() => last !== undefined)
    carrier.setMode?.('paused')
    carrier.setMode?.('drained')
    expect(await smsc.deliver({ shortMessage: Buffer.from('a reply') })).toBe(0)
    expect([bound(), unbinds()]).toEqual([2, 0])
    for (const { send } of smsc.connections) if (last) send(smsc.respond(last, { messageId: 'id-1' }))
    await until(() => carrier.status().links.length === 0 && smsc.connections.size === 0)
    expect([outcomes(answers), unbinds(), carrier.availability?.()]).toEqual([['accepted'], 2, 'down'])
    carrier.setMode?.('running')
    await until(() => bound() === 2)
  })

  test('one that begins drained does not connect until it is resumed', async () => {
    const smsc = await anSmsc()
    smscs.push(smsc)
    const address = { host: '127.0.0.1', port: smsc.port, systemId: 'us', password: 'secret' }
    const carrier = smppCarrier('test', { ...smppDefaults, ...address }, { report: () => undefined })
    carriers.push(carrier)
    carrier.setMode?.('drained')
    carrier.listen({ receipts: () => Promise.resolve([]), inboundMessages: () => Promise.resolve() })
    expect(carrier.status().links).toEqual([])
    carrier.setMode?.('running')
    await until(() => carrier.status().links.some(({ boundSince }) => boundSince !== undefined))
    expect(smsc.received.filter(({ command }) => command === 'bind_transceiver')).toHaveLength(1)
  })

  test('a half-dead link is found in bounded time, and another one is made', async () => {
    const { smsc, carrier } = await start({ enquireSeconds: 0.1 })
    smsc.on((pdu) => pdu.command === 'enquire_link')
    await until(() => carrier.status().lastError === 'the other side gave no sign of life')
    smsc.on(() => false)
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  })

  test('a refused bind is tried again, told once without the password, and once when it is over', async () => {
    const { smsc, carrier, problems, recovered } = await start({ reconnectSecondsMax: 0.02 })
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    const binds = (): number => smsc.received.filter(({ command }) => command.startsWith('bind')).length
    smsc.on((pdu, { send }) => {
      if (!pdu.command.startsWith('bind')) return false
      send(smsc.respond(pdu, { status: COMMAND_STATUS.ESME_RINVPASWD, systemId: '' }))
      return true
    })
    for (const { socket } of smsc.connections) socket.destroy()
    await until(() => binds() >= 5)
    expect(carrier.status().lastError).toBe('the bind was refused: ESME_RINVPASWD')
    smsc.on(() => false)
    await until(() => recovered.length > 0)
    expect(problems.map(String)).toEqual([
      'Error: carrier test: the other side closed the connection',
      expect.stringContaining('carrier test: the bind was refused: ESME_RINVPASWD'),
    ])
    expect(recovered).toEqual([expect.stringMatching(/^carrier test: its link is bound again after \d+ s$/)])
    expect(problems.map(String).join()).not.toContain('secret')
  })

  test('a carrier that takes binds and closes at once is tried again after longer and longer pauses', async () => {
    const { smsc } = await start({ reconnectSecondsMax: 10 })
    const binds: number[] = []
    smsc.on((pdu, { socket }) => {
      if (!pdu.command.startsWith('bind')) return false
      binds.push(performance.now())
      socket.end(encodePdu(smsc.respond(pdu, { systemId: 'smsc' })))
      return true
    })
    for (const { socket } of smsc.connections) socket.destroy()
    await until(() => binds.length === 7)
    // At least half of 20, 40, 80, 160, 320 and 640 ms.
    expect((binds[6] ?? 0) - (binds[0] ?? 0)).toBeGreaterThanOrEqual(620)
  })

  test('a pair sends over one connection and receives over the other', async () => {
    const { smsc, carrier, answers, submit } = await start({ bind: 'pair', binds: 2 })
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    submit(aBody())
    await until(() => answers.length === 1)
    const binds = smsc.received.filter(({ command }) => command.startsWith('bind')).map(({ command }) => command)
    expect(binds.toSorted()).toEqual(['bind_receiver', 'bind_receiver', 'bind_transmitter', 'bind_transmitter'])
    expect(carrier.window).toBe(100)
    expect(carrier.room()).toBeGreaterThan(0)
  })

  test.each([
    ['a length of zero', '00000000000000000000000000000000'],
    ['a huge length', 'ffffffff000000050000000000000001'],
    ['a page of HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n').toString('hex')],
  ])('%s ends the session and nothing else', async (_, bytes) => {
    const { smsc, carrier, answers, submit } = await start()
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    for (const { socket } of smsc.connections) socket.write(Buffer.from(bytes, 'hex'))
    await until(() => carrier.status().lastError?.startsWith('bytes that are no PDU came') === true)
    submit(aBody())
    await until(() => answers.length === 1)
    expect(outcomes(answers)).toEqual(['accepted'])
  })

  test('whatever PDUs and octets a carrier sends, each submission is answered once, and the next link works', async () => {
    const { smsc, carrier, answers, submit } = await start(
      { storeSeconds: 0.05, reconnectSecondsMax: 0.02 },
      () => 'silence',
    )
    const isBound = () => carrier.status().links.every(({ boundSince }) => boundSince !== undefined)
    // One that asks for fewer submissions is given them later.
    const throttling: readonly number[] = [COMMAND_STATUS.ESME_RTHROTTLED, COMMAND_STATUS.ESME_RMSGQFUL]
    // Small numbers, which requests of ours have too.
    const near = anyPdu
      .filter(({ status }) => !throttling.includes(status))
      .chain((pdu) => fc.nat(8).map((sequence) => encodePdu({ ...pdu, sequence })))
    let links = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 5, arbitrary: near }, bytes(60)), { maxLength: 12 }),
        async (sent) => {
          await until(() => isBound() && smsc.connections.size === 1)
          const [submits, settled] = [smsc.submits.length, answers.length]
          submit(aBody(), aBody())
          await until(() => smsc.submits.length === submits + 2)
          const connections = [...smsc.connections]
          for (const { socket } of connections) socket.end(Buffer.concat(sent))
          await until(() => answers.length === settled + 2 && !connections.some((one) => smsc.connections.has(one)))
          links++
        },
      ),
      { numRuns: 60, endOnFailure: true },
    )
    expect(new Set(answers.map(({ id }) => id)).size).toBe(answers.length)
    expect(links).toBeGreaterThanOrEqual(60)
  })

  test('enquire_link is answered, and requests that nobody knows are refused without harm', async () => {
    const { smsc, carrier } = await start()
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    const [connection] = smsc.connections
    connection?.send({ command: 'enquire_link', status: 0, sequence: 77, tlvs: noTlvs })
    connection?.socket.write(Buffer.from('00000010000009990000000000000042', 'hex'))
    await until(() => smsc.received.filter(({ sequence }) => sequence === 77 || sequence === 66).length === 2)
    expect(smsc.received.find(({ sequence }) => sequence === 77)?.command).toBe('enquire_link_resp')
    expect(smsc.received.find(({ sequence }) => sequence === 66)).toMatchObject({ command: 'generic_nack', status: 3 })
  })

  test('closing waits for the answers that are due, unbinds, and refuses the rest for now', async () => {
    const { smsc, carrier, answers, submit } = await start({ window: 2 }, () => 'silence')
    submit(...many(3))
    await until(() => smsc.submits.length === 2)
    const closed = carrier.close(never)
    for (const pdu of smsc.submits) [...smsc.connections][0]?.send(smsc.respond(pdu, { messageId: `${pdu.sequence}` }))
    await closed
    expect(outcomes(answers).toSorted()).toEqual(['accepted', 'accepted', 'refused-for-now'])
    expect(smsc.received.at(-1)?.command).toBe('unbind')
  })
})

describe('what comes', () => {
  const receiptText = (id: string, stat = 'DELIVRD') =>
    Buffer.from(
      `id:${id} sub:001 dlvrd:001 submit date:2601021200 done date:2601021201 stat:${stat} err:000 text:hello`,
    )

  test('a receipt is acknowledged only once it is stored (P-7)', async () => {
    let isAway = true
    const { smsc, carrier, receipts } = await start({}, undefined, () =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve([]),
    )
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    const receipt = { esmClass: 4, shortMessage: receiptText('id-1') }
    expect(await smsc.deliver(receipt)).toBe(COMMAND_STATUS.ESME_RX_T_APPN)
    isAway = false
    expect(await smsc.deliver(receipt)).toBe(0)
    expect(receipts).toEqual([
      expect.objectContaining({ carrier: 'test', reference: 'id-1', code: 0, number: '27825550101' }),
    ])
  })

  test('a receipt that comes with the answer of its message is told after it, also behind a receipt of another', async () => {
    const known: string[][] = []
    const { smsc, answers, submit } = await start(
      { receiptId: 'as-is' },
      (pdu, { socket }) => {
        const receipt = (id: string, sequence: number): Pdu => ({
          ...aDelivery,
          ...{ esmClass: 4, sequence, shortMessage: receiptText(id) },
        })
        const pdus = [receipt('earlier', 1), smsc.respond(pdu, { messageId: 'id-1' }), receipt('id-1', 2)]
        socket.write(Buffer.concat(pdus.map(encodePdu)))
        return 'silence'
      },
      () => {
        known.push(answers.flatMap((answer) => ('reference' in answer ? [answer.reference] : [])))
        return Promise.resolve([])
      },
    )
    submit(aBody())
    await until(() => known.length > 0)
    expect(known).toEqual([['id-1']])
  })

  test('a handler that hangs: the carrier is asked to offer it again in bounded time, and a late success does no harm', async () => {
    let store: (missed: readonly DeliveryReceipt[]) => void = () => undefined
    const { smsc, carrier, receipts } = await start({ storeSeconds: 0.05 }, undefined, () =>
      receipts.length > 0 ? Promise.resolve([]) : new Promise((resolve) => (store = resolve)),
    )
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    const receipt = { esmClass: 4, shortMessage: receiptText('id-1') }
    expect(await smsc.deliver(receipt)).toBe(COMMAND_STATUS.ESME_RX_T_APPN)
    store([])
    await until(() => receipts.length === 1)
    expect(await smsc.deliver(receipt)).toBe(0)
    expect(smsc.received.filter(({ command }) => command === 'deliver_sm_resp')).toHaveLength(2)
    expect(carrier.status().links).toMatchObject([{ inUse: 0 }])
  })

  test.each([
    [{}, '0825550101', undefined],
    [{}, '27825550101', '27825550101'],
    [{ receiptNumbers: 'national' as const, country: '27' }, '0825550101', '27825550101'],
    [{ receiptNumbers: 'plus' as const }, '+27825550101', '27825550101'],
    [{ receiptNumbers: '00' as const }, '0027825550101', '27825550101'],
    [{ receiptNumbers: 'none' as const }, '825550101', undefined],
    [{ numbers: 'national' as const, country: '27', receiptNumbers: 'none' as const }, '08255XXXXX', undefined],
  ])('with %j a receipt from %s is one for %s', async (settings, sourceAddr, number) => {
    const { smsc, carrier, receipts } = await start(settings)
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    const receipt = { esmClass: 4, sourceAddr, sourceAddrTon: 2, shortMessage: receiptText('id-1') }
    expect(await smsc.deliver(receipt)).toBe(0)
    expect(receipts).toMatchObject([{ reference: 'id-1', number }])
  })

  describe('an arrival that comes again', () => {
    const hello = { shortMessage: Buffer.from('yes') }
    const bound = ({ carrier }: Started) =>
      until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))

    test('over the same connection, or once the carrier has the acknowledgement, it is another message', async () => {
      const ended: string[] = []
      const one = await start({}, undefined, undefined, {
        offersEnded: (offers) => Promise.resolve(void ended.push(...offers)),
      })
      await bound(one)
      await one.smsc.deliver(hello)
      await one.smsc.deliver(hello)
      const [first, second] = one.inbound.map(({ offer }) => offer ?? '')
      expect(first).not.toBe(second)
      await until(() => ended.length === 2)
      expect(ended.toSorted()).toEqual([first, second].toSorted())
      const [connection] = one.smsc.connections
      connection?.socket.destroy()
      await until(
        () => one.smsc.connections.size === 1 && ![...one.smsc.connections].includes(connection as Connection),
      )
      await bound(one)
      await one.smsc.deliver(hello)
      // Of the same name as the first one, which the store has been told to forget.
      expect(one.inbound).toHaveLength(3)
    })

    test('over another connection, where the carrier may not have the acknowledgement, it is the same, also after a restart', async () => {
      const ended: string[] = []
      const handlers = { offersEnded: (offers: readonly string[]) => Promise.resolve(void ended.push(...offers)) }
      const one = await start({}, undefined, undefined, handlers)
      await bound(one)
      // It reads nothing more: the enquiry that would confirm is not answered.
      one.smsc.on((pdu) => pdu.command === 'enquire_link')
      await one.smsc.deliver(hello)
      const [connection] = one.smsc.connections
      connection?.socket.destroy()
      await until(
        () => one.smsc.connections.size === 1 && ![...one.smsc.connections].includes(connection as Connection),
      )
      await bound(one)
      await one.smsc.deliver(hello)
      const two = await start({}, undefined, undefined, handlers)
      await bound(two)
      await two.smsc.deliver(hello)
      expect(new Set([...one.inbound, ...two.inbound].map(({ offer }) => offer)).size).toBe(1)
      await until(() => ended.length === 1)
      expect(ended).toEqual([one.inbound[0]?.offer])
    })
  })

  test('receipts and messages of people by data_sm are stored before they are answered', async () => {
    let isAway = true
    const { smsc, carrier, receipts, inbound } = await start({}, undefined, () =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve([]),
    )
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    const data = async (sequence: number, pdu: Partial<DataSm>): Promise<number | undefined> => {
      const [connection] = smsc.connections
      const { serviceType, sourceAddrTon, sourceAddrNpi, sourceAddr, destAddrTon, destAddrNpi, destinationAddr } =
        aDelivery
      const source = { serviceType, sourceAddrTon, sourceAddrNpi, sourceAddr }
      const destination = { destAddrTon, destAddrNpi, destinationAddr }
      const flags = { esmClass: 0, registeredDelivery: 0, dataCoding: 0, tlvs: noTlvs }
      connection?.send({ command: 'data_sm', status: 0, sequence, ...source, ...destination, ...flags, ...pdu })
      const isAnswer = (one: ReceivedPdu) => one.command === 'data_sm_resp' && one.sequence === sequence
      await until(() => smsc.received.some(isAnswer))
      return smsc.received.find(isAnswer)?.status
    }
    const tlvs = [textTlv(TLV_TAG.receipted_message_id, 'id-1'), integerTlv(TLV_TAG.message_state, 1, 2)]
    expect(await data(11, { esmClass: 4, tlvs })).toBe(COMMAND_STATUS.ESME_RX_T_APPN)
    isAway = false
    expect(await data(12, { esmClass: 4, tlvs })).toBe(0)
    expect(receipts).toMatchObject([{ reference: 'id-1', code: 0, number: '27825550101' }])
    const payload = { tag: TLV_TAG.message_payload, value: Buffer.from('STOP') }
    expect(await data(13, { tlvs: [payload] })).toBe(0)
    expect(inbound).toMatchObject([{ from: '27825550101', to: '12025550100', text: 'STOP' }])
  })

  test('TLVs count more than the text, and one that cannot be read is told', async () => {
    const { smsc, carrier, receipts, problems } = await start()
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    const tlvs = [textTlv(TLV_TAG.receipted_message_id, 'tlv-id'), integerTlv(TLV_TAG.message_state, 1, 5)]
    await smsc.deliver({ esmClass: 4, shortMessage: receiptText('text-id'), tlvs })
    expect(receipts).toMatchObject([{ reference: 'tlv-id', code: 103 }])
    expect(await smsc.deliver({ esmClass: 4, shortMessage: Buffer.from('hello') })).toBe(0)
    expect(carrier.status()).toMatchObject({ unreadable: 1, receipts: { received: 1 } })
    const unread = Buffer.from('id:7 done:yes text:secret')
    expect(await smsc.deliver({ esmClass: 4, shortMessage: unread })).toBe(0)
    expect(problems).toEqual([
      'carrier test: a receipt with no id and the text "hello" cannot be read and is kept',
      'carrier test: a receipt with the id "7" and the text "id:7 done:yes " cannot be read and is kept',
    ])
  })

  describe('a receipt that cannot be read', () => {
    const written = Buffer.from('id:7\0 handed over')

    test('is acknowledged once it is kept, as it came, and offered again if it cannot be', async () => {
      const unread = aStore()
      const { smsc, carrier, problems } = await start({}, undefined, undefined, { unreadReceipts: unread })
      await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
      unread.isAway = true
      const delivery = { esmClass: 4, shortMessage: written, tlvs: [textTlv(TLV_TAG.receipted_message_id, 'id-7')] }
      expect(await smsc.deliver(delivery)).toBe(COMMAND_STATUS.ESME_RX_T_APPN)
      expect([unread.kept, problems, carrier.status().unreadable]).toEqual([[], [], 0])
      unread.isAway = false
      expect(await smsc.deliver(delivery)).toBe(0)
      expect(unread.kept).toEqual([
        {
          ...{ id: 1, at: 0, carrier: 'test', reference: 'id-7', number: '27825550101' },
          text: 'id:7\ufffd handed over',
          pdu: encodePdu({ ...aDelivery, ...delivery, sequence: 2 }).toString('hex'),
        },
      ])
      expect(carrier.status().unreadable).toBe(1)
    })

    test('is read at the next start with a pattern for it, and then kept no more', async () => {
      const unread = aStore()
      const { smsc, carrier } = await start({}, undefined, undefined, { unreadReceipts: unread })
      await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
      for (const text of ['msg 7 handed over', 'msg 8 lost', 'other'])
        expect(await smsc.deliver({ esmClass: 4, shortMessage: Buffer.from(text) })).toBe(0)
      const receiptPattern = 'msg (?<id>\\d+) (?:(?<delivered>handed over)|(?<undeliverable>lost))'
      const { receipts, recovered } = await start({ receiptPattern }, undefined, undefined, { unreadReceipts: unread })
      await until(() => unread.kept.length === 1)
      expect(unread.kept).toMatchObject([{ text: 'other' }])
      expect(receipts.map(({ reference, code, number }) => [reference, code, number])).toEqual([
        ['7', 0, '27825550101'],
        ['8', 103, '27825550101'],
      ])
      expect(recovered).toEqual(['carrier test: 2 receipts that could not be read before were read'])
    })
  })

  describe('of a message that the carrier calls unknown', () => {
    const unknown = { reference: 'id-1', number: aNumber('27825550101'), from: anAddress('12025550100') }

    /** Asks as soon as it may, and as often as there is anything to ask for. */
    async function asking(answer: (query: ReceivedPdu, smsc: Smsc) => Pdu | undefined) {
      const taken: number[] = []
      const kept: string[] = []
      const unknownMessages: CarrierHandlers['unknownMessages'] = {
        keep: (references) => Promise.resolve(void kept.push(...references)),
        take: ({ countMax }) => Promise.resolve(taken.push(countMax) > 3 ? [] : [unknown]),
      }
      const started = await start({ queryUnknownSeconds: 1, responseSeconds: 1 }, undefined, undefined, {
        unknownMessages,
      })
      started.smsc.on((pdu, { send }) => {
        if (pdu.command !== 'query_sm') return false
        const reply = answer(pdu, started.smsc)
        if (reply !== undefined) send(reply)
        return true
      })
      return {
        ...started,
        taken,
        kept,
        queries: () => started.smsc.received.filter((one) => one.command === 'query_sm'),
      }
    }
    const state = (pdu: ReceivedPdu, smsc: Smsc, messageState: number, status = 0): Pdu =>
      smsc.respond(pdu, { messageId: 'id-1', finalDate: '', messageState, errorCode: 0, status })

    test('its references are kept, and the answer to a query is its receipt', async () => {
      const { smsc, carrier, receipts, kept, taken, queries } = await asking((pdu, its) => state(pdu, its, 2))
      await until(() => receipts.length === 3)
      expect(queries()[0]).toMatchObject({ messageId: 'id-1', sourceAddrTon: 1, sourceAddr: '12025550100' })
      expect(receipts[0]).toMatchObject({ carrier: 'test', reference: 'id-1', code: 0, number: '27825550101' })
      expect(taken.slice(0, 2)).toEqual([1, 5])
      await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
      expect(await smsc.deliver({ esmClass: 4, shortMessage: receiptText('id-8', 'UNKNOWN') })).toBe(0)
      expect(await smsc.deliver({ esmClass: 4, shortMessage: receiptText('id-9') })).toBe(0)
      expect(kept).toEqual(['id-8'])
    })

    test('a query that fails, or tells no state, changes nothing', async () => {
      let nth = 0
      const { receipts, queries, problems } = await asking((pdu, its) =>
        ++nth === 1 ? state(pdu, its, 0, COMMAND_STATUS.ESME_RQUERYFAIL) : state(pdu, its, nth === 2 ? 0 : 5),
      )
      await until(() => receipts.length === 1)
      expect(receipts).toMatchObject([{ code: 103 }])
      expect([queries().length, problems]).toEqual([3, []])
    })

    test.each([
      ['refuses it', (pdu: ReceivedPdu): Pdu | undefined => aNack(pdu)],
      ['ignores it', (): Pdu | undefined => undefined],
    ])('a carrier that %s is not asked again, and its link stays', async (_, answer) => {
      const { smsc, queries, problems, taken } = await asking(answer)
      await until(() => problems.length > 0)
      expect(String(problems[0])).toContain('does not understand query_sm')
      expect([queries().length, taken.length, smsc.connections.size]).toEqual([1, 1, 1])
    })
  })

  test('with esm_class 0, an exact receipt counts only for a message to its number, and all else is a reply', async () => {
    const { smsc, carrier, receipts, inbound } = await start()
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    expect(await smsc.deliver({ shortMessage: receiptText('id-1') })).toBe(0)
    expect(receipts).toMatchObject([{ reference: 'id-1', code: 0, number: '27825550101', isGuess: true }])
    expect(inbound).toEqual([])
    const words = `Is this it? ${receiptText('id-1').toString()}`
    expect(await smsc.deliver({ shortMessage: Buffer.from(words) })).toBe(0)
    expect(inbound).toMatchObject([{ from: '27825550101', text: words }])
  })

  test('the receipt of each part tells of its own id', async () => {
    const { smsc, answers, receipts, submit } = await start()
    submit(long(400))
    await until(() => answers.length === 1)
    expect(answers).toEqual([{ id: 1, outcome: 'accepted', reference: 'id-1', furtherReferences: ['id-2', 'id-3'] }])
    expect(await smsc.deliver({ esmClass: 4, shortMessage: receiptText('id-2') })).toBe(0)
    expect(await smsc.deliver({ esmClass: 4, shortMessage: receiptText('id-3', 'UNDELIV') })).toBe(0)
    expect(receipts).toMatchObject([
      { reference: 'id-2', code: 0 },
      { reference: 'id-3', code: 103 },
    ])
  })

  test('messages of people: numbers, text, parts by header and by TLVs, payload; binary ones are dropped visibly', async () => {
    const { smsc, carrier, inbound } = await start({ numbers: 'national', country: '27' })
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    await smsc.deliver({ shortMessage: Buffer.from('STOP') })
    await smsc.deliver({
      sourceAddrTon: 2,
      sourceAddr: '0825550101',
      destinationAddr: '40123',
      shortMessage: Buffer.from('050003070202686f', 'hex'),
      esmClass: 0x40,
    })
    const sar = [
      integerTlv(TLV_TAG.sar_msg_ref_num, 2, 9),
      integerTlv(TLV_TAG.sar_total_segments, 1, 2),
      integerTlv(TLV_TAG.sar_segment_seqnum, 1, 1),
    ]
    await smsc.deliver({ dataCoding: 8, shortMessage: Buffer.from('041f', 'hex'), tlvs: sar })
    await smsc.deliver({ tlvs: [{ tag: TLV_TAG.message_payload, value: Buffer.from('long') }] })
    expect(await smsc.deliver({ dataCoding: 4, shortMessage: Buffer.of(1, 2) })).toBe(0)
    expect(inbound).toMatchObject([
      { carrier: 'test', from: '27825550101', to: '12025550100', text: 'STOP', part: undefined },
      { from: '27825550101', to: '40123', text: 'ho', part: { group: 7, of: 2, number: 2 } },
      { text: 'П', part: { group: 9, of: 2, number: 1 } },
      { text: 'long' },
    ])
    expect(carrier.status().unreadable).toBe(1)
  })
})

describe('ids of receipts', () => {
  /** A store of messages by reference and number, as the real one. */
  const storeOf = (messages: ReadonlyMap<string, string>) => {
    const kept: string[] = []
    const store = (receipts: readonly DeliveryReceipt[]) => {
      const strangers = receipts.filter(({ reference, number }) => messages.get(reference) !== number)
      kept.push(...strangers.filter(({ isGuess }) => isGuess !== true).map(({ reference }) => reference))
      return Promise.resolve(strangers)
    }
    return { store, kept }
  }
  const receiptOf = (id: string, sourceAddr: string) => ({
    ...{ esmClass: 4, sourceAddr, shortMessage: Buffer.from(`id:${id} stat:DELIVRD`) },
  })

  test.each([
    ['hex', ['ff01', 'ff02', 'ff03', 'ff04'], ['65281', '65282', '65283', '65284']],
    ['decimal', ['65281', '65282', '65283', '65284'], ['FF01', 'ff02', 'FF03', 'ff04']],
    ['HEX-8', ['0000FF01', '0000FF02', '0000FF03', '0000FF04'], ['65281', '0065282', '65283', '65284']],
    ['upper', ['AB1', 'AB2', 'AB3', 'AB4'], ['ab1', 'ab2', 'ab3', 'ab4']],
    ['without-zeros', ['11', '12', '13', '14'], ['0011', '0012', '0013', '0014']],
  ] as const)(
    'the form %s is found, adopted and told; all receipts reach their messages',
    async (form, answered, told) => {
      const people = numbers(4)
      const messages = new Map<string, string>(answered.map((reference, i) => [reference, String(people[i])]))
      const { store, kept } = storeOf(messages)
      const { smsc, carrier, receipts, problems } = await start({}, undefined, store)
      await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
      for (const [i, id] of told.entries()) await smsc.deliver(receiptOf(id, String(people[i])))
      await until(() => receipts.length === 4)
      expect(receipts.map(({ reference }) => reference)).toEqual(answered)
      expect(carrier.status().receipts.form).toBe(form)
      expect(problems.map(String).join()).toContain(`receiptId=${form}`)
      expect(carrier.status().lastError).toBeUndefined()
      expect(kept).toEqual([])
    },
  )

  test('a carrier that from some day on writes ids as they were answered is understood again, and the operator told', async () => {
    const people = numbers(8).map(String)
    const answered = ['ff01', '1002', 'ff03', '1004', 'ff05', '1006', '1007', 'ff08']
    const { store, kept } = storeOf(new Map(answered.map((reference, i) => [reference, people[i] ?? ''])))
    const { smsc, carrier, receipts, problems } = await start({}, undefined, store)
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    const forms: unknown[] = []
    for (const [i, id] of answered.entries()) {
      await smsc.deliver(receiptOf(i < 4 ? String(parseInt(id, 16)) : id, people[i] ?? ''))
      if (i % 4 === 3) forms.push(carrier.status().receipts.form)
    }
    await until(() => receipts.length === 8)
    expect(receipts.map(({ reference }) => reference)).toEqual(answered)
    expect(forms).toEqual(['hex', 'as-is'])
    expect(problems.map(String).filter((one) => one.includes('receiptId='))).toHaveLength(2)
    expect(kept.filter((reference) => answered.includes(reference))).toEqual([])
  })

  test('a decimal id that is another message’s hexadecimal one reaches its own message', async () => {
    const [one, two] = numbers(2).map(String)
    const { store } = storeOf(
      new Map([
        ['10', one ?? ''],
        ['16', two ?? ''],
      ]),
    )
    const { smsc, carrier, receipts } = await start({}, undefined, store)
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    await smsc.deliver(receiptOf('16', one ?? ''))
    expect(receipts).toMatchObject([{ reference: '10', number: one }])
  })

  test('receipts that missed before the form was known are matched in it, and ids that nobody knows are kept', async () => {
    const people = numbers(5).map(String)
    const messages = new Map<string, string>()
    const { store, kept } = storeOf(messages)
    const { smsc, carrier, receipts } = await start({}, undefined, store)
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    await smsc.deliver(receiptOf('65281', people[0] ?? ''))
    await smsc.deliver(receiptOf('999999', people[4] ?? ''))
    expect([receipts, kept]).toEqual([[], ['65281', '999999']])
    ;['ff01', 'ff02', 'ff03', 'ff04'].forEach((reference, i) => messages.set(reference, people[i] ?? ''))
    for (const [i, id] of ['65282', '65283', '65284'].entries()) await smsc.deliver(receiptOf(id, people[i + 1] ?? ''))
    await until(() => receipts.length === 4)
    expect(receipts.map(({ reference }) => reference).toSorted()).toEqual(['ff01', 'ff02', 'ff03', 'ff04'])
    expect(kept).toContain('999999')
  })

  test('what was learned is kept: after a restart receipts match in it at once, and the operator is not told again', async () => {
    const people = numbers(5).map(String)
    const answered = ['ff01', 'ff02', 'ff03', 'ff04', 'ff05']
    const told = ['65281', '65282', '65283', '65284', '65285']
    const { store } = storeOf(new Map(answered.map((reference, i) => [reference, people[i] ?? ''])))
    let word: string | undefined
    let failures = 2
    const memory: CarrierHandlers['receiptForm'] = {
      learned: () => (failures-- > 1 ? Promise.reject(new Error('away')) : Promise.resolve(word)),
      keep: (form) => (failures-- > 0 ? Promise.reject(new Error('away')) : Promise.resolve(void (word = form))),
    }
    const one = await start({}, undefined, store, { receiptForm: memory })
    await until(() => one.carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    expect(await one.smsc.deliver(receiptOf('65281', people[0] ?? ''))).toBe(COMMAND_STATUS.ESME_RX_T_APPN)
    for (const [i, id] of told.entries()) await one.smsc.deliver(receiptOf(id, people[i] ?? ''))
    await until(() => word === 'hex')
    await one.carrier.close(Promise.resolve())

    const offers: DeliveryReceipt[] = []
    const after = (some: readonly DeliveryReceipt[]) => {
      offers.push(...some)
      return store(some)
    }
    const two = await start({}, undefined, after, { receiptForm: memory })
    await until(() => two.carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    expect(await two.smsc.deliver(receiptOf('65284', people[3] ?? ''))).toBe(0)
    expect(offers).toMatchObject([{ reference: 'ff04' }])
    expect(two.carrier.status().receipts).toEqual({ received: 1, missed: 0, form: 'hex' })
    expect(two.problems).toEqual([])
  })

  test('what the operator set counts more than what was learned', async () => {
    const memory = { learned: () => Promise.resolve('upper'), keep: () => Promise.reject(new Error('not to be kept')) }
    const { smsc, carrier, receipts, problems } = await start({ receiptId: 'hex' }, undefined, undefined, {
      receiptForm: memory,
    })
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    for (let i = 0; i < 4; i++) await smsc.deliver(receiptOf('255', '27825550101'))
    expect(receipts.map(({ reference }) => reference)).toEqual(['ff', 'ff', 'ff', 'ff'])
    expect(problems).toEqual([])
  })

  test('a form that the operator set is not questioned', async () => {
    const { smsc, carrier, receipts } = await start({ receiptId: 'hex' })
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    await smsc.deliver(receiptOf('255', '27825550101'))
    expect(receipts).toMatchObject([{ reference: 'ff' }])
  })
})

describe('contract', () => {
  /** Accepts everything, tells a moment later that it was delivered, and again until that is acknowledged. */
  async function deliveringSmsc() {
    const smsc = await anSmsc((pdu, { send, socket }, nth) => {
      const receipt: DeliverSm = {
        ...aDelivery,
        ...{ sequence: nth, esmClass: 4, sourceAddr: pdu.destinationAddr },
        shortMessage: Buffer.from(`id:c-${nth} stat:DELIVRD`),
      }
      setImmediate(() => socket.writable && send(receipt))
      return { command: 'submit_sm_resp', status: 0, sequence: pdu.sequence, messageId: `c-${nth}`, tlvs: noTlvs }
    })
    smsc.on((pdu, { send, socket }) => {
      if (pdu.command !== 'deliver_sm_resp' || pdu.status === 0) return false
      const { sequence } = pdu
      const sourceAddr = smsc.submits[sequence - 1]?.destinationAddr ?? ''
      const shortMessage = Buffer.from(`id:c-${sequence} stat:DELIVRD`)
      setImmediate(() => socket.writable && send({ ...aDelivery, sequence, esmClass: 4, sourceAddr, shortMessage }))
      return true
    })
    return smsc
  }

  for (const [promise, check] of Object.entries(carrierContract)) {
    test(promise, async () => {
      const smsc = await deliveringSmsc()
      smscs.push(smsc)
      const settings = { ...smppDefaults, host: '127.0.0.1', port: smsc.port, systemId: 'us', password: 'secret' }
      await check(smppCarrier('contract', settings, { report: () => undefined }))
    })
  }
})
