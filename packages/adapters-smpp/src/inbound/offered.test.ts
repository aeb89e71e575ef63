import type { DeliveryReceipt } from '@gateway/core/dispatch'
import { joinParts } from '@gateway/core/inbox'
import { aBody, until } from '@gateway/core/testing'
import {
  aDelivery,
  aStore,
  endAll,
  long,
  receiptText,
  start,
  type Connection,
  type Started,
} from '../../testing/an-smsc.ts'
import {
  COMMAND_STATUS,
  encodePdu,
  integerTlv,
  noTlvs,
  textTlv,
  TLV_TAG,
  type DataSm,
  type Pdu,
  type ReceivedPdu,
} from '@gateway/smpp'

afterEach(endAll)

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

test('a receipt that arrives with the answer of its message is stored after the answer', async () => {
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

test('with a hanging handler a delivery is refused for now in bounded time, and a late success does no harm', async () => {
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

describe('an arrival that is offered again', () => {
  const hello = { shortMessage: Buffer.from('yes') }
  const bound = ({ carrier }: Started) =>
    until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))

  test('is another message over the same connection, or once the carrier has the acknowledgement', async () => {
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
    await until(() => one.smsc.connections.size === 1 && ![...one.smsc.connections].includes(connection as Connection))
    await bound(one)
    await one.smsc.deliver(hello)
    // The store has forgotten the first offer, so it stores this offer although both have the same name.
    expect(one.inbound).toHaveLength(3)
  })

  test('is the same message over another connection if the carrier may lack the acknowledgement, also after a restart', async () => {
    const ended: string[] = []
    const handlers = { offersEnded: (offers: readonly string[]) => Promise.resolve(void ended.push(...offers)) }
    const one = await start({}, undefined, undefined, handlers)
    await bound(one)
    // The carrier reads nothing more, so the confirming enquire_link is not answered.
    one.smsc.on((pdu) => pdu.command === 'enquire_link')
    await one.smsc.deliver(hello)
    const [connection] = one.smsc.connections
    connection?.socket.destroy()
    await until(() => one.smsc.connections.size === 1 && ![...one.smsc.connections].includes(connection as Connection))
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

test('TLVs take precedence over the text, and an unreadable receipt is reported without its text', async () => {
  const { smsc, carrier, receipts, problems } = await start()
  await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  const tlvs = [textTlv(TLV_TAG.receipted_message_id, 'tlv-id'), integerTlv(TLV_TAG.message_state, 1, 5)]
  await smsc.deliver({ esmClass: 4, shortMessage: receiptText('text-id'), tlvs })
  expect(receipts).toMatchObject([{ reference: 'tlv-id', code: 103 }])
  expect(await smsc.deliver({ esmClass: 4, shortMessage: Buffer.from('hello') })).toBe(0)
  expect(carrier.status()).toMatchObject({ unreadable: 1, receipts: { received: 1 } })
  const unread = Buffer.from('id:7 done:yes text:secret')
  expect(await smsc.deliver({ esmClass: 4, shortMessage: unread })).toBe(0)
  const line = 'carrier test: 1 receipt that cannot be read is kept: gateway carrier receipts test --unread'
  expect(problems).toEqual([line, line])
})

test('with esm_class 0, an exact receipt counts only for a message to its number, and other texts are replies', async () => {
  const { smsc, carrier, receipts, inbound } = await start()
  await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  expect(await smsc.deliver({ shortMessage: receiptText('id-1') })).toBe(0)
  expect(receipts).toMatchObject([{ reference: 'id-1', code: 0, number: '27825550101', isGuess: true }])
  expect(inbound).toEqual([])
  const words = `Is this it? ${receiptText('id-1').toString()}`
  expect(await smsc.deliver({ shortMessage: Buffer.from(words) })).toBe(0)
  expect(inbound).toMatchObject([{ from: '27825550101', text: words }])
})

test('a text that looks like a receipt without a message is kept, and read again until it has one', async () => {
  const unread = aStore()
  let isKnown = false
  const stored = (some: readonly DeliveryReceipt[]) => Promise.resolve(isKnown ? [] : some)
  const handlers = { unreadReceipts: unread }
  const one = await start({ receiptId: 'as-is' }, undefined, stored, handlers)
  await until(() => one.carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  expect(await one.smsc.deliver({ shortMessage: receiptText('id-1') })).toBe(0)
  expect(unread.receipts).toMatchObject([{ reference: 'id-1', number: '27825550101', isMessage: false }])
  expect(one.problems).toEqual([
    'carrier test: 1 receipt that cannot be read is kept: gateway carrier receipts test --unread',
  ])
  const two = await start({ receiptId: 'as-is' }, undefined, stored, handlers)
  await until(() => two.carrier.status().receipts.received === 1)
  expect(unread.receipts).toHaveLength(1)
  isKnown = true
  const three = await start({ receiptId: 'as-is' }, undefined, stored, handlers)
  await until(() => unread.receipts.length === 0)
  expect(three.receipts).toMatchObject([{ reference: 'id-1', isGuess: true }])
})

test('the receipt of each part has the id of that part', async () => {
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

test('messages of people: numbers, text, parts by header and by TLVs, payload; binary ones are kept unchanged', async () => {
  const unread = aStore()
  const national = { numbers: 'national', country: '27' } as const
  const { smsc, carrier, inbound } = await start(national, undefined, undefined, { unreadReceipts: unread })
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
  unread.isAway = true
  const binary = { dataCoding: 4, shortMessage: Buffer.of(1, 254) }
  expect(await smsc.deliver(binary)).toBe(COMMAND_STATUS.ESME_RX_T_APPN)
  unread.isAway = false
  expect(await smsc.deliver(binary)).toBe(0)
  expect(unread.receipts).toMatchObject([{ number: '27825550101', text: '01fe', isMessage: true }])
  expect(inbound).toMatchObject([
    { carrier: 'test', from: '27825550101', to: '12025550100', text: 'STOP', part: undefined },
    { from: '27825550101', to: '40123', text: 'ho', part: { group: 7, of: 2, number: 2 } },
    { text: 'П', part: { group: 9, of: 2, number: 1 } },
    { text: 'long' },
  ])
  expect(carrier.status().unreadable).toBe(1)
})

const part = (octets: string) => ({ esmClass: 0x40, shortMessage: Buffer.from(octets, 'hex') })

test.each([
  ['a Turkish locking shift table', part('0325010107'), 'ı'],
  ['a Turkish single shift table', part('032401011b69'), 'ı'],
  ['two tables', part('06250101240101' + '071b73'), 'ış'],
  ['a table of a language that is not known', part('0325016307'), 'ì'],
  ['an element of a table that is cut off', part('02250107'), 'ì'],
  ['UCS-2 with the mark of little-endian', { dataCoding: 8, shortMessage: Buffer.from('fffe1f04', 'hex') }, 'П'],
  ['UCS-2 of class 1', { dataCoding: 0x19, shortMessage: Buffer.from('041f', 'hex') }, 'П'],
])('the text of a person with %s (ruling 1.32)', async (_, pdu, text) => {
  const { smsc, carrier, inbound } = await start()
  await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  expect(await smsc.deliver(pdu)).toBe(0)
  expect(inbound).toMatchObject([{ text }])
})

test('parts carry the data that joining needs, and the name of an offer depends on the part alone', async () => {
  const { smsc, carrier, inbound } = await start()
  await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  await smsc.deliver(part('050003070201' + '311b'))
  await smsc.deliver(part('050003070202' + '6532'))
  const parts = inbound.map(({ text, part: place }) => ({ number: place?.number ?? 0, text, coded: place?.coded }))
  expect([parts.map(({ text }) => text), joinParts(parts)]).toEqual([['1', 'e2'], '1€2'])
})

test.each([
  ['ASCII', receiptText('id-8')],
  ['UCS-2', Buffer.from(receiptText('id-8').toString(), 'utf16le').swap16()],
  ['UCS-2 with a byte order mark', Buffer.from(`\ufeff${receiptText('id-8').toString()}`, 'utf16le')],
])('a receipt in %s that is flagged as UCS-2 is read', async (_, shortMessage) => {
  const { smsc, carrier, receipts, problems } = await start()
  await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  expect(await smsc.deliver({ esmClass: 4, dataCoding: 8, shortMessage: shortMessage.subarray(0, 254) })).toBe(0)
  expect(receipts).toMatchObject([{ reference: 'id-8', code: 0 }])
  expect(problems).toEqual([])
})
