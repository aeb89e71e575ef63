import { aBody, until } from '@gateway/core/testing'
import { aSecondLess, endAll, long, many, outcomes, refusal, start, type Connection } from '../../testing/an-smsc.ts'
import { COMMAND_STATUS } from '@gateway/smpp'

afterEach(endAll)

test('a message is submitted with its numbers and text, and requests a receipt', async () => {
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
    // The validity may be one second shorter if a second passes before the message is sent.
    expect([period, validSeconds === undefined ? '' : aSecondLess(period)]).toContain(sent)
  },
)

test('a priority of its own goes before that of the settings, and flash is class 0, also beside the same text without', async () => {
  const { smsc, submitOne } = await start({ priority: 1 })
  const body = aBody('the same')
  for (const more of [{}, { options: { priority: 3 } }, { options: { flash: true } }, {}] as const)
    expect(outcomes(await submitOne({ body, ...more }))).toEqual(['accepted'])
  expect(smsc.submits.map(({ priorityFlag, dataCoding }) => [priorityFlag, dataCoding])).toEqual([
    [1, 0],
    [3, 0],
    [1, 0x10],
    [1, 0],
  ])
})

test('a message that expires before its turn is not submitted: it returns to the queue, which ends it', async () => {
  const { smsc, submitOne } = await start({ perSecond: 1 })
  const answers = await Promise.all([submitOne({}), submitOne({ validSeconds: 0.2 }), submitOne({})])
  expect(answers.map(outcomes)).toEqual([['accepted'], ['refused-for-now'], ['accepted']])
  expect(smsc.submits).toHaveLength(2)
})

test('every part requests a receipt, and parts are sent one after another', async () => {
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

test('the parts of a text are sent one after another over the same bind, even if its window is full', async () => {
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

test('fifty messages are sent in one write and unanswered at a time', async () => {
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

test('no more parts a second are sent than the operator allows', async () => {
  const { smsc, answers, submit } = await start({ perSecond: 50 })
  const began = performance.now()
  submit(...many(20))
  await until(() => answers.length === 20)
  expect(performance.now() - began).toBeGreaterThanOrEqual(290)
  expect(smsc.submits).toHaveLength(20)
})

test('only a missing part is sent again, and the message is accepted once all parts are', async () => {
  const { smsc, answers, submit } = await start({}, (pdu, _, nth) =>
    nth === 2 ? refusal(pdu, COMMAND_STATUS.ESME_RX_T_APPN) : undefined,
  )
  submit(long(400))
  await until(() => answers.length === 1)
  expect(answers).toEqual([{ id: 1, outcome: 'accepted', reference: 'id-1', furtherReferences: ['id-3', 'id-2'] }])
  expect(smsc.submits.map(({ shortMessage }) => shortMessage[5])).toEqual([1, 2, 3, 2])
})

test('if a part is refused for good, accepted parts are not sent again and the message has failed', async () => {
  const { smsc, answers, submit } = await start({}, (pdu, _, nth) =>
    nth === 2 ? refusal(pdu, COMMAND_STATUS.ESME_RINVDSTADR) : undefined,
  )
  submit(long(400))
  await until(() => answers.length === 1)
  expect(answers).toEqual([{ id: 1, outcome: 'partly', reference: 'id-1', furtherReferences: ['id-2'] }])
  expect(smsc.submits).toHaveLength(3)
})

test('if all parts are refused for now, the message returns to the queue as a whole', async () => {
  const { answers, submit } = await start({}, (pdu) => refusal(pdu, COMMAND_STATUS.ESME_RX_T_APPN))
  submit(long(400))
  await until(() => answers.length === 1)
  expect(outcomes(answers)).toEqual(['refused-for-now'])
})
