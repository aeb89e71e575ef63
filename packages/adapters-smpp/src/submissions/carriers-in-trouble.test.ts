import { aBody, until } from '@gateway/core/testing'
import { endAll, long, many, outcomes, refusal, start } from '../../testing/an-smsc.ts'
import { COMMAND_STATUS, noTlvs } from '@gateway/smpp'

afterEach(endAll)

test('after an error of the link the message is sent over the next one, and other requests still get their answers', async () => {
  const { smsc, carrier, answers, submit } = await start({}, (_, __, nth) => (nth <= 3 ? 'silence' : undefined))
  submit(...many(3))
  await until(() => smsc.submits.length === 3)
  const [connection] = smsc.connections
  const [first, ...others] = smsc.submits
  if (first !== undefined) connection?.send(refusal(first, COMMAND_STATUS.ESME_RINVBNDSTS))
  // The response to this enquire_link proves that the gateway has read the refusal.
  connection?.send({ command: 'enquire_link', status: 0, sequence: 77, tlvs: noTlvs })
  await until(() => smsc.received.some(({ sequence }) => sequence === 77))
  for (const pdu of others) connection?.send(smsc.respond(pdu, { messageId: `late-${pdu.sequence}` }))
  await until(() => answers.length === 3)
  expect(outcomes(answers)).toEqual(['accepted', 'accepted', 'accepted'])
  expect(answers.at(-1)).toMatchObject({ id: 1, reference: 'id-1' })
  expect(smsc.submits).toHaveLength(4)
  expect(carrier.status().lastError).toBe('a request was refused: ESME_RINVBNDSTS')
})

test('a carrier that unbinds may still answer its requests; the rest are unknown, and the next link works', async () => {
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

test('a carrier that answers no submission gets only probes, until ten were accepted', async () => {
  let isSilent = true
  const settings = { silentSeconds: 0.3, probeSeconds: 0.1, responseSeconds: 60 }
  const { smsc, carrier, answers, problems, recovered, submit } = await start(settings, () =>
    isSilent ? 'silence' : undefined,
  )
  let changes = 0
  carrier.onAvailability(() => changes++)
  await until(() => carrier.availability() === 'available')
  expect(carrier.room()).toBe(1)
  submit(aBody())
  expect(carrier.room()).toBe(0)
  await until(() => carrier.availability() === 'throttled')
  await until(() => carrier.availability() === 'down')
  expect(carrier.status().circuit).toMatchObject({ state: 'open', reason: 'silent', silentSeconds: 0.3 })
  submit(aBody())
  carrier.handBack()
  await until(() => answers.length === 1)
  expect(answers).toEqual([{ id: 2, outcome: 'refused-for-now' }])
  expect(smsc.submits).toHaveLength(1)

  await until(() => carrier.availability() === 'probing')
  expect(changes).toBeGreaterThanOrEqual(3)
  expect(carrier.room()).toBe(1)
  isSilent = false
  for (let round = 1; round <= 10; round++) {
    submit(...many(2))
    await until(() => smsc.submits.length >= 2 * round + 1)
    await until(() => answers.length === 1 + 2 * round)
  }
  expect(carrier.availability()).toBe('available')
  expect(carrier.room()).toBeGreaterThan(9)
  expect(problems.map(String)).toEqual([
    expect.stringContaining('it has answered no submission for 0.3 s or more; it gets no messages but probes'),
  ])
  expect(recovered).toEqual([expect.stringContaining('it answers again after')])
})

test('numbers without an answer occupy the window only briefly, and neither end the link nor open the circuit', async () => {
  const settings = { responseSeconds: 1, silentSeconds: 0.2, window: 50 }
  const { smsc, carrier, answers, submit } = await start(settings, (_, __, nth) =>
    nth % 3 === 0 ? 'silence' : undefined,
  )
  submit(...many(100))
  await until(() => smsc.submits.length === 100)
  const before = carrier.status().window
  await until(() => answers.length === 100)
  expect(outcomes(answers).filter((one) => one === 'unknown')).toHaveLength(33)
  expect(carrier.status().window).toBe(before)
  expect(carrier.status().circuit).toMatchObject({ state: 'closed', reason: undefined })
  expect(smsc.received.filter(({ command }) => command === 'bind_transceiver')).toHaveLength(1)
})

test('a carrier that refuses ten distinct messages for now gets only probes', async () => {
  const { carrier, answers, submit } = await start({ failuresPercent: 50, probeSeconds: 5 }, (pdu) =>
    refusal(pdu, COMMAND_STATUS.ESME_RSYSERR),
  )
  submit(...many(9))
  await until(() => answers.length === 9)
  expect(carrier.availability()).toBe('available')
  submit(...many(1))
  await until(() => answers.length === 10)
  expect(carrier.availability()).toBe('down')
  expect(carrier.status().circuit).toMatchObject({ state: 'open', reason: 'failing', failuresPercent: 50 })
})

test('messages that were refused before, and the parts of one message, do not count as further refusals', async () => {
  const { carrier, answers, submit, submitOne } = await start({ failuresPercent: 1 }, (pdu) =>
    refusal(pdu, COMMAND_STATUS.ESME_RSYSERR),
  )
  submit(long(400))
  await until(() => answers.length === 1)
  for (let time = 0; time < 12; time++) {
    expect(outcomes(await submitOne({ refusedBefore: true }))).toEqual(['refused-for-now'])
  }
  expect(carrier.status().circuit).toMatchObject({ state: 'closed', reason: undefined })
})

test('a carrier that refuses nine of ten for now and accepts the tenth keeps getting messages', async () => {
  const { carrier, answers, submit } = await start({ failuresPercent: 50 }, (pdu, _, nth) =>
    nth % 10 === 0 ? undefined : refusal(pdu, COMMAND_STATUS.ESME_RSYSERR),
  )
  submit(...many(200))
  await until(() => answers.length === 200)
  expect(outcomes(answers).filter((one) => one === 'accepted')).toHaveLength(20)
  expect(carrier.status().circuit).toMatchObject({ state: 'closed', reason: undefined })
})

test('a link cut before answers were due is not a failure: the rest is sent over the next one at once', async () => {
  const { carrier, answers, submit } = await start({ failuresPercent: 50, window: 3 }, (_, __, nth) =>
    nth === 3 ? 'close' : nth < 3 ? 'silence' : undefined,
  )
  submit(...many(5))
  await until(() => answers.length === 5)
  expect(outcomes(answers)).toEqual(['unknown', 'unknown', 'unknown', 'accepted', 'accepted'])
  expect(carrier.status().circuit).toMatchObject({ state: 'closed', reason: undefined })
})

test('the reported window grows with answers and is 0 without a bind', async () => {
  const { smsc, carrier, answers, submit } = await start({ responseSeconds: 30, window: 50 })
  await until(() => carrier.status().window === 10)
  submit(...many(300))
  await until(() => answers.length === 300)
  expect(carrier.status().window).toBe(50)
  await smsc.stop()
  await until(() => carrier.status().window === 0)
})

test('when the link dies, sent messages are unknown and unsent ones are sent over the next one, once', async () => {
  const { smsc, answers, submit } = await start({ window: 3 }, (_, __, nth) =>
    nth === 3 ? 'close' : nth < 3 ? 'silence' : undefined,
  )
  submit(...many(5))
  await until(() => answers.length === 5)
  expect(outcomes(answers)).toEqual(['unknown', 'unknown', 'unknown', 'accepted', 'accepted'])
  expect(smsc.submits).toHaveLength(5)
})

test('a message without an answer in time is unknown and not sent again', async () => {
  const { smsc, answers, submit } = await start({ responseSeconds: 0.1, window: 2 }, (_, __, nth) =>
    nth === 1 ? 'silence' : undefined,
  )
  submit(aBody(), aBody())
  await until(() => answers.length === 2)
  expect(outcomes(answers)).toEqual(['accepted', 'unknown'])
  expect(smsc.submits).toHaveLength(2)
})

test('a carrier that answers nothing loses its connection, and at most its window is unknown', async () => {
  const { smsc, carrier, answers, submit } = await start(
    { responseSeconds: 0.1, window: 2, holdSeconds: 0.3 },
    () => 'silence',
  )
  submit(...many(2))
  await until(() => answers.length === 2 && carrier.status().lastError === 'requests got no answer')
  expect(outcomes(answers)).toEqual(['unknown', 'unknown'])
  expect(smsc.submits).toHaveLength(2)
})

test('a link that answers only enquire_link is replaced after one missing answer', async () => {
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

test('without a link a message returns to the queue in bounded time', async () => {
  const { smsc, answers, submit } = await start({ holdSeconds: 0.2 })
  await smsc.stop()
  submit(aBody(), long(400))
  await until(() => answers.length === 2)
  expect(outcomes(answers)).toEqual(['refused-for-now', 'refused-for-now'])
})
