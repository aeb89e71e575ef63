import { createServer, type AddressInfo, type Server } from 'node:net'
import { until } from '@gateway/core/testing'
import { COMMAND_STATUS, encodePdu, noTlvs, type Pdu } from '@gateway/smpp'
import { SmppClient, type SmppClientSettings } from '../../testing/smpp-client.ts'
import { sessionTimes, type BoundAs, type CloseReason, type Session, type SessionHost } from './session.ts'
import { Sessions, type SessionsSettings } from './sessions.ts'
import { TokenBucket } from './token-bucket.ts'

interface Bound extends BoundAs {
  readonly bucket: TokenBucket
}

/**
 * Host that accepts binds with the password `secret`. Answers each submission immediately; if `isImmediate` is false,
 * submissions wait until the test calls `answer`.
 */
class Host implements SessionHost<Bound> {
  isImmediate = true
  perSecond = 1000
  window = 2
  readonly closings: CloseReason[] = []
  readonly bounds: Session<Bound>[] = []
  readonly waiting: (() => void)[] = []

  bind(_session: Session<Bound>, { systemId, password }: { systemId: string; password: string }) {
    if (password !== 'secret') return Promise.resolve({ refused: COMMAND_STATUS.ESME_RINVPASWD })
    const bucket = new TokenBucket(this.perSecond, performance.now())
    return Promise.resolve({ systemId, window: this.window, bucket })
  }

  async operate(_session: Session<Bound>, _bound: Bound, { sequence }: Pdu): Promise<Pdu> {
    if (!this.isImmediate) await new Promise<void>((resolve) => this.waiting.push(resolve))
    return { command: 'submit_sm_resp', status: 0, sequence, messageId: '7', tlvs: noTlvs }
  }

  hasRoom({ bucket }: Bound): boolean {
    return bucket.hasToken(performance.now())
  }

  admits({ bucket }: Bound): boolean {
    return bucket.take(1, performance.now())
  }

  bound(session: Session<Bound>): void {
    this.bounds.push(session)
  }

  closed(_session: Session<Bound>, reason: CloseReason): void {
    this.closings.push(reason)
  }

  hasWindow(): void {
    return
  }

  refused(): void {
    return
  }

  answer(): void {
    for (const resolve of this.waiting.splice(0)) resolve()
  }
}

let host: Host
let sessions: Sessions<Bound> | undefined
let server: Server | undefined
const clients: SmppClient[] = []

async function serve(settings: Partial<SessionsSettings> = {}): Promise<number> {
  host = new Host()
  sessions = new Sessions(host, {
    ...{ serverId: 'gateway', times: sessionTimes, connectionsMax: 100, unboundPerAddressMax: 50 },
    ...settings,
  })
  const accept = sessions
  server = createServer((socket) => accept.accept(socket))
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function connect(port: number, settings: Partial<SmppClientSettings> = {}): Promise<SmppClient> {
  const client = await SmppClient.connect({ port, ...settings })
  clients.push(client)
  return client
}

async function connectBound(port: number, settings: Partial<SmppClientSettings> = {}): Promise<SmppClient> {
  const client = await connect(port, settings)
  expect(await client.bind('shop', 'secret')).toMatchObject({ status: 0, systemId: 'gateway' })
  return client
}

afterEach(async () => {
  host.answer()
  for (const client of clients.splice(0)) client.destroy()
  await sessions?.stop(0)
  await new Promise((resolve) => server?.close(resolve))
})

/** Encodes a submit_sm. */
const submitSm = (sequence: number): Buffer =>
  encodePdu({
    command: 'submit_sm',
    ...{ status: 0, sequence, serviceType: '', sourceAddrTon: 0, sourceAddrNpi: 0, sourceAddr: '', destAddrTon: 1 },
    ...{ destAddrNpi: 1, destinationAddr: '27825550101', esmClass: 0, protocolId: 0, priorityFlag: 0 },
    ...{ scheduleDeliveryTime: '', validityPeriod: '', registeredDelivery: 1, replaceIfPresentFlag: 0, dataCoding: 0 },
    ...{ smDefaultMsgId: 0, shortMessage: Buffer.from('hello'), tlvs: noTlvs },
  })

test('a client binds, submits, enquires and unbinds', async () => {
  const client = await connectBound(await serve())
  expect(await client.submit('27825550101', 'hello')).toMatchObject({ command: 'submit_sm_resp', messageId: '7' })
  expect(await client.enquire()).toMatchObject({ command: 'enquire_link_resp', status: 0 })
  expect(await client.unbind()).toMatchObject({ command: 'unbind_resp', status: 0 })
  await until(() => client.isClosed)
  expect(host.closings).toEqual(['unbound'])
})

test('a refused bind is answered with its status and ends the connection', async () => {
  const client = await connect(await serve())
  expect(await client.bind('shop', 'guess')).toMatchObject({ status: COMMAND_STATUS.ESME_RINVPASWD })
  await until(() => client.isClosed)
  expect(host.closings).toEqual(['bind-refused'])
})

test('a submission without a bind, and one over a receiver, is answered RINVBNDSTS', async () => {
  const port = await serve()
  const stranger = await connect(port)
  expect(await stranger.submit('27825550101', 'a')).toMatchObject({ status: COMMAND_STATUS.ESME_RINVBNDSTS })
  const receiver = await connect(port)
  await receiver.bind('shop', 'secret', { command: 'bind_receiver' })
  expect(await receiver.submit('27825550101', 'a')).toMatchObject({ status: COMMAND_STATUS.ESME_RINVBNDSTS })
})

test('a second bind on one connection is answered RALYBND', async () => {
  const client = await connectBound(await serve())
  expect(await client.bind('shop', 'secret')).toMatchObject({ status: COMMAND_STATUS.ESME_RALYBND })
})

test('a submission over the window is answered RTHROTTLED at once, and enquire_link still works', async () => {
  const port = await serve()
  host.isImmediate = false
  const client = await connectBound(port)
  const first = [client.submit('27825550101', 'a'), client.submit('27825550101', 'b')]
  expect(await client.submit('27825550101', 'c')).toMatchObject({ status: COMMAND_STATUS.ESME_RTHROTTLED })
  expect(await client.enquire()).toMatchObject({ status: 0 })
  await until(() => host.waiting.length === 2)
  host.answer()
  expect(await Promise.all(first)).toMatchObject([{ status: 0 }, { status: 0 }])
})

test('a submission over the rate is answered RTHROTTLED', async () => {
  const port = await serve()
  host.perSecond = 1
  const client = await connectBound(port)
  expect(await client.submit('27825550101', 'a')).toMatchObject({ status: 0 })
  expect(await client.submit('27825550101', 'b')).toMatchObject({ status: COMMAND_STATUS.ESME_RTHROTTLED })
})

test('a flood is answered whole, in order and without delay, and enquire_link behind it too', async () => {
  const port = await serve()
  host.isImmediate = false
  const client = await connectBound(port)
  const submissions = Array.from({ length: 20_000 }, (_, i) => submitSm(1000 + i))
  client.write(Buffer.concat(submissions))
  expect(await client.enquire()).toMatchObject({ status: 0 })
  await until(() => host.waiting.length === 2)
  host.answer()
  await until(() => client.received.filter(({ command }) => command === 'submit_sm_resp').length === 20_000)
  const statuses = client.received.flatMap((pdu) => (pdu.command === 'submit_sm_resp' ? [pdu.status] : []))
  expect(statuses.filter((status) => status === 0)).toHaveLength(2)
  expect(statuses.filter((status) => status === COMMAND_STATUS.ESME_RTHROTTLED)).toHaveLength(19_998)
})

test('a flood before a bind ends the connection', async () => {
  const client = await connect(await serve())
  client.write(Buffer.concat(Array.from({ length: 2000 }, (_, i) => submitSm(1 + i))))
  await until(() => client.isClosed)
  expect(host.closings).toEqual(['malformed'])
})

test('replace_sm and an unknown command are refused without ending the session', async () => {
  const client = await connectBound(await serve())
  const replace = { scheduleDeliveryTime: '', validityPeriod: '', registeredDelivery: 0, smDefaultMsgId: 0 }
  const source = { sourceAddrTon: 0, sourceAddrNpi: 0, sourceAddr: '' }
  const request = { command: 'replace_sm', status: 0, messageId: '7', ...source, ...replace, tlvs: noTlvs }
  expect(await client.request({ ...request, shortMessage: Buffer.alloc(0) } as Pdu)).toMatchObject({
    command: 'replace_sm_resp',
    status: COMMAND_STATUS.ESME_RREPLACEFAIL,
  })
  const unknown = encodePdu({ command: 'enquire_link', status: 0, sequence: 99, tlvs: noTlvs })
  unknown.writeUInt32BE(0x112, 4)
  client.write(unknown)
  await until(() => client.received.at(-1)?.command === 'generic_nack')
  expect(client.received.at(-1)).toMatchObject({ status: COMMAND_STATUS.ESME_RINVCMDID, sequence: 99 })
  expect(await client.enquire()).toMatchObject({ status: 0 })
})

test.each([
  ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: gateway\r\n\r\n')],
  ['a PDU that is too large', Buffer.from([0, 1, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1])],
  ['a length below the header', Buffer.from([0, 0, 0, 15, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1])],
])('%s is answered with generic_nack and ends the connection', async (_title, octets) => {
  const client = await connect(await serve())
  client.write(octets)
  await until(() => client.isClosed)
  expect(client.received).toMatchObject([{ command: 'generic_nack', status: COMMAND_STATUS.ESME_RINVCMDLEN }])
})

test('a PDU that arrives octet by octet is read', async () => {
  const client = await connectBound(await serve())
  for (const octet of encodePdu({ command: 'enquire_link', status: 0, sequence: 77, tlvs: noTlvs })) {
    client.write(Buffer.of(octet))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await until(() => client.received.some((pdu) => pdu.command === 'enquire_link_resp' && pdu.sequence === 77))
})

test('a connection that is not bound in time is closed, also with half a PDU', async () => {
  const port = await serve({ times: { ...sessionTimes, bindMilliseconds: 50 } })
  const [silent, half] = [await connect(port), await connect(port)]
  half.write(Buffer.from([0, 0, 0, 40, 0, 0]))
  await until(() => silent.isClosed && half.isClosed)
  expect(host.closings).toEqual(['bind-timeout', 'bind-timeout'])
})

test('a silent client is sent enquire_link and is disconnected without a response', async () => {
  const times = { ...sessionTimes, enquireMilliseconds: 50, responseMilliseconds: 50 }
  const port = await serve({ times })
  const [dead, alive] = [await connectBound(port, { isAlive: false }), await connectBound(port)]
  await until(() => dead.isClosed)
  expect(host.closings).toEqual(['silent'])
  expect(alive.isClosed).toBe(false)
})

test('a client that never reads is disconnected at the limit of its unread responses', async () => {
  const port = await serve({ limits: { unreadOctetsMax: 20_000, idlePerSecondMax: 1_000_000 } })
  const client = await connectBound(port)
  client.socket.pause()
  const enquiry = encodePdu({ command: 'enquire_link', status: 0, sequence: 5, tlvs: noTlvs })
  const many = Buffer.concat(Array.from({ length: 4000 }, () => enquiry))
  const timer = setInterval(() => client.write(many), 10)
  await until(() => host.closings.length === 1)
  clearInterval(timer)
  expect(host.closings).toEqual(['connection-lost'])
})

test('beyond the limits of connections, further ones are closed at once', async () => {
  const port = await serve({ connectionsMax: 3, unboundPerAddressMax: 2 })
  await connectBound(port)
  await connect(port)
  await connect(port)
  const fourth = await connect(port)
  await until(() => fourth.isClosed)
  expect(sessions?.list()).toHaveLength(3)
})

test('bound connections do not count as connections without a bind', async () => {
  const port = await serve({ unboundPerAddressMax: 1 })
  for (let count = 0; count < 5; count++) await connectBound(port)
  expect(sessions?.list()).toHaveLength(5)
})

test('a stop refuses new submissions with RSYSERR, sends outstanding responses, and unbinds', async () => {
  const port = await serve()
  host.isImmediate = false
  const client = await connectBound(port)
  const outstanding = client.submit('27825550101', 'a')
  await until(() => host.waiting.length === 1)
  const stopped = sessions?.stop(5000)
  expect(await client.submit('27825550101', 'b')).toMatchObject({ status: COMMAND_STATUS.ESME_RSYSERR })
  expect(client.received.some(({ command }) => command === 'unbind')).toBe(false)
  host.answer()
  expect(await outstanding).toMatchObject({ status: 0 })
  await stopped
  await until(() => client.isClosed)
  expect(client.received.at(-1)).toMatchObject({ command: 'unbind' })
})

test('an unbind of the client is answered after its outstanding submissions', async () => {
  const port = await serve()
  host.isImmediate = false
  const client = await connectBound(port)
  const outstanding = client.submit('27825550101', 'a')
  await until(() => host.waiting.length === 1)
  const unbound = client.unbind()
  expect(await client.enquire()).toMatchObject({ status: 0 })
  host.answer()
  await Promise.all([outstanding, unbound])
  expect(client.received.map(({ command }) => command).slice(-2)).toEqual(['submit_sm_resp', 'unbind_resp'])
})

test('deliveries use the window of the bind, and end without a status when the connection is lost', async () => {
  const port = await serve()
  const client = await connectBound(port, { deliveryStatus: () => 'none' })
  const session = host.bounds[0]
  if (session === undefined) throw new Error('no session is bound')
  expect(session.deliveryRoom).toBe(2)
  const delivery = { status: 0, serviceType: '', sourceAddrTon: 1, sourceAddrNpi: 1, sourceAddr: '27825550101' }
  const to = { destAddrTon: 0, destAddrNpi: 0, destinationAddr: '', esmClass: 4, protocolId: 0, priorityFlag: 0 }
  const rest = { scheduleDeliveryTime: '', validityPeriod: '', registeredDelivery: 0, replaceIfPresentFlag: 0 }
  const text = { dataCoding: 0, smDefaultMsgId: 0, shortMessage: Buffer.from('id:7'), tlvs: noTlvs, sequence: 0 }
  const result = session.deliver({ command: 'deliver_sm', ...delivery, ...to, ...rest, ...text })
  await until(() => client.deliveries.length === 1)
  expect(session.deliveryRoom).toBe(1)
  client.destroy()
  expect(await result).toBeUndefined()
})
