import fc from 'fast-check'
import { aBody, until } from '@gateway/core/testing'
import { anyPdu, bytes } from '../../../smpp/testing/any-pdu.ts'
import { anSmsc, carriers, endAll, many, never, outcomes, smscs, start } from '../../testing/an-smsc.ts'
import { COMMAND_STATUS, encodePdu, noTlvs, type SubmitSm } from '@gateway/smpp'
import { smppDefaults } from '../settings.ts'
import { smppCarrier } from '../smpp-carrier.ts'

afterEach(endAll)

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

test('a drained carrier unbinds once nothing is unanswered, and binds again when resumed', async () => {
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
  carrier.setMode('paused')
  carrier.setMode('drained')
  expect(await smsc.deliver({ shortMessage: Buffer.from('a reply') })).toBe(0)
  expect([bound(), unbinds()]).toEqual([2, 0])
  for (const { send } of smsc.connections) if (last) send(smsc.respond(last, { messageId: 'id-1' }))
  await until(() => carrier.status().links.length === 0 && smsc.connections.size === 0)
  expect([outcomes(answers), unbinds(), carrier.availability()]).toEqual([['accepted'], 2, 'down'])
  carrier.setMode('running')
  await until(() => bound() === 2)
})

test('a carrier that starts drained does not connect until it is resumed', async () => {
  const smsc = await anSmsc()
  smscs.push(smsc)
  const address = { host: '127.0.0.1', port: smsc.port, systemId: 'us', password: 'secret' }
  const carrier = smppCarrier('test', { ...smppDefaults, ...address }, { report: () => undefined })
  carriers.push(carrier)
  carrier.setMode('drained')
  carrier.listen({ receipts: () => Promise.resolve([]), inboundMessages: () => Promise.resolve() })
  expect(carrier.status().links).toEqual([])
  carrier.setMode('running')
  await until(() => carrier.status().links.some(({ boundSince }) => boundSince !== undefined))
  expect(smsc.received.filter(({ command }) => command === 'bind_transceiver')).toHaveLength(1)
})

test('a half-dead link is detected in bounded time and replaced', async () => {
  const { smsc, carrier } = await start({ enquireSeconds: 0.1 })
  smsc.on((pdu) => pdu.command === 'enquire_link')
  await until(() => carrier.status().lastError === 'the other side gave no sign of life')
  smsc.on(() => false)
  await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
})

test('a refused bind is retried, and reported once without the password and once when it is over', async () => {
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

test('a carrier that accepts binds and closes at once is retried after longer and longer pauses', async () => {
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
  await until(() => carrier.status().lastError?.startsWith('bytes that are not a PDU arrived') === true)
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
  // Statuses that throttle a message or refuse it because of the link. Such a message gets no answer yet, but is
  // submitted again on the next link.
  const repeated: readonly number[] = [
    ...[COMMAND_STATUS.ESME_RTHROTTLED, COMMAND_STATUS.ESME_RMSGQFUL, COMMAND_STATUS.ESME_RINVBNDSTS],
    ...[COMMAND_STATUS.ESME_RALYBND, COMMAND_STATUS.ESME_RBINDFAIL, COMMAND_STATUS.ESME_RINVPASWD],
    ...[COMMAND_STATUS.ESME_RINVSYSID, COMMAND_STATUS.ESME_RINVSYSTYP],
  ]
  // Uses small sequence numbers, because our own requests have such numbers.
  const near = anyPdu
    .filter(({ status }) => !repeated.includes(status))
    .chain((pdu) => fc.nat(8).map((sequence) => encodePdu({ ...pdu, sequence })))
  let links = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof({ weight: 5, arbitrary: near }, bytes(60)), { maxLength: 12 }), async (sent) => {
      await until(() => isBound() && smsc.connections.size === 1)
      const [submits, settled] = [smsc.submits.length, answers.length]
      submit(aBody(), aBody())
      await until(() => smsc.submits.length === submits + 2)
      const connections = [...smsc.connections]
      for (const { socket } of connections) socket.end(Buffer.concat(sent))
      await until(() => answers.length === settled + 2 && !connections.some((one) => smsc.connections.has(one)))
      links++
    }),
    { numRuns: 60, endOnFailure: true },
  )
  expect(new Set(answers.map(({ id }) => id)).size).toBe(answers.length)
  expect(links).toBeGreaterThanOrEqual(60)
})

test('enquire_link is answered, and unknown requests are refused without harm', async () => {
  const { smsc, carrier } = await start()
  await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  const [connection] = smsc.connections
  connection?.send({ command: 'enquire_link', status: 0, sequence: 77, tlvs: noTlvs })
  connection?.socket.write(Buffer.from('00000010000009990000000000000042', 'hex'))
  await until(() => smsc.received.filter(({ sequence }) => sequence === 77 || sequence === 66).length === 2)
  expect(smsc.received.find(({ sequence }) => sequence === 77)?.command).toBe('enquire_link_resp')
  expect(smsc.received.find(({ sequence }) => sequence === 66)).toMatchObject({ command: 'generic_nack', status: 3 })
})

test('closing waits for outstanding answers, unbinds, and refuses the rest for now', async () => {
  const { smsc, carrier, answers, submit } = await start({ window: 2 }, () => 'silence')
  submit(...many(3))
  await until(() => smsc.submits.length === 2)
  const closed = carrier.close(never)
  for (const pdu of smsc.submits) [...smsc.connections][0]?.send(smsc.respond(pdu, { messageId: `${pdu.sequence}` }))
  await closed
  expect(outcomes(answers).toSorted()).toEqual(['accepted', 'accepted', 'refused-for-now'])
  expect(smsc.received.at(-1)?.command).toBe('unbind')
})
