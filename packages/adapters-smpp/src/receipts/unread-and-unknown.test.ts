import type { CarrierHandlers } from '@gateway/core/dispatch'
import { aCarrierId, anAddress, aNumber, until } from '@gateway/core/testing'
import { aDelivery, aNack, aStore, endAll, receiptText, start, type Smsc, type Started } from '../../testing/an-smsc.ts'
import {
  COMMAND_STATUS,
  encodePdu,
  integerTlv,
  textTlv,
  TLV_TAG,
  type DataSm,
  type DeliverSm,
  type Pdu,
  type ReceivedPdu,
} from '@gateway/smpp'

afterEach(endAll)

describe('a receipt that cannot be read', () => {
  const written = Buffer.from('id:7\0 handed over')

  test('is acknowledged once it is kept unchanged, and refused for now if it cannot be kept', async () => {
    const unread = aStore()
    const { smsc, carrier, problems } = await start({}, undefined, undefined, { unreadReceipts: unread })
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    unread.isAway = true
    const delivery = { esmClass: 4, shortMessage: written, tlvs: [textTlv(TLV_TAG.receipted_message_id, 'id-7')] }
    expect(await smsc.deliver(delivery)).toBe(COMMAND_STATUS.ESME_RX_T_APPN)
    expect([unread.receipts, problems, carrier.status().unreadable]).toEqual([[], [], 0])
    unread.isAway = false
    expect(await smsc.deliver(delivery)).toBe(0)
    expect(unread.receipts).toEqual([
      {
        ...{ id: 1, at: 0, carrier: 'test', reference: 'id-7', number: '27825550101' },
        text: 'id:7\ufffd handed over',
        isMessage: false,
        pdu: encodePdu({ ...aDelivery, ...delivery, sequence: 2 }).toString('hex'),
      },
    ])
    expect(carrier.status().unreadable).toBe(1)
  })

  test('is read at the next start if a pattern fits it, and then dropped', async () => {
    const unread = aStore()
    const { smsc, carrier } = await start({}, undefined, undefined, { unreadReceipts: unread })
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    for (const text of ['msg 7 handed over', 'msg 8 lost', 'other'])
      expect(await smsc.deliver({ esmClass: 4, shortMessage: Buffer.from(text) })).toBe(0)
    const receiptPattern = 'msg (?<id>\\d+) (?:(?<delivered>handed over)|(?<undeliverable>lost))'
    const { receipts, recovered } = await start({ receiptPattern }, undefined, undefined, { unreadReceipts: unread })
    await until(() => unread.receipts.length === 1)
    expect(unread.receipts).toMatchObject([{ text: 'other' }])
    expect(receipts.map(({ reference, code, number }) => [reference, code, number])).toEqual([
      ['7', 0, '27825550101'],
      ['8', 103, '27825550101'],
    ])
    expect(recovered).toEqual(['carrier test: 2 receipts or messages that could not be read before were read'])
  })
})

describe('odd octets (P-21)', () => {
  const bound = ({ carrier }: Started) =>
    until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
  const receipt = encodePdu({ ...aDelivery, esmClass: 4, shortMessage: receiptText('id-1') })
  const { shortMessage: _, protocolId: __, priorityFlag: ___, ...fields } = aDelivery
  const dataSm = (tlvs: DataSm['tlvs'], esmClass = 0): Buffer =>
    encodePdu({ ...fields, command: 'data_sm', esmClass, tlvs })

  test('a NUL after a receipt, a reply, a data_sm or an enquire_link_resp loses nothing', async () => {
    const ended: string[] = []
    const one = await start({}, undefined, undefined, {
      offersEnded: (offers) => Promise.resolve(void ended.push(...offers)),
    })
    await bound(one)
    one.smsc.on((pdu, { socket }) => {
      if (pdu.command !== 'enquire_link') return false
      const answer = Buffer.concat([encodePdu(one.smsc.respond(pdu)), Buffer.of(0)])
      answer.writeUInt32BE(answer.length)
      return socket.write(answer)
    })
    expect(await one.smsc.sendOctets(receipt, '00')).toMatchObject({ command: 'deliver_sm_resp', status: 0 })
    const tlvs = [textTlv(TLV_TAG.receipted_message_id, 'id-2'), integerTlv(TLV_TAG.message_state, 1, 2)]
    expect(await one.smsc.sendOctets(dataSm(tlvs, 4), '00')).toMatchObject({ command: 'data_sm_resp', status: 0 })
    for (let nth = 0; nth < 2; nth++) {
      await one.smsc.sendOctets(encodePdu({ ...aDelivery, shortMessage: Buffer.from('Yes') }), '00')
      // Once the offer has ended, the same word is another message.
      await until(() => ended.length > nth)
    }
    expect(one.receipts.map(({ reference, code }) => [reference, code])).toEqual([
      ['id-1', 0],
      ['id-2', 0],
    ])
    expect(one.inbound.map(({ text }) => text)).toEqual(['Yes', 'Yes'])
    expect([one.problems, one.carrier.status().unreadable]).toEqual([[], 0])
  })

  test('the same word twice over one connection is two messages, even if no enquire_link is answered', async () => {
    const one = await start({ responseSeconds: 0.1, enquireSeconds: 60 })
    await bound(one)
    const enquiries = () => one.smsc.received.filter(({ command }) => command === 'enquire_link').length
    one.smsc.on((pdu) => pdu.command === 'enquire_link')
    await one.smsc.deliver({ shortMessage: Buffer.from('Yes') })
    await until(() => enquiries() === 1 && one.carrier.status().links.every(({ inUse }) => inUse === 0))
    await one.smsc.deliver({ shortMessage: Buffer.from('Yes') })
    expect(new Set(one.inbound.map(({ offer }) => offer)).size).toBe(2)
  })

  test.each([
    ['deliver_sm', receipt.subarray(0, -1), 'deliver_sm_resp'],
    [
      'data_sm',
      dataSm([{ tag: TLV_TAG.message_payload, value: Buffer.from('secret') }]).subarray(0, -1),
      'data_sm_resp',
    ],
  ])(
    'a %s that is cut off is kept before it is acknowledged, and logged without its text',
    async (_, octets, command) => {
      const unread = aStore()
      const one = await start({}, undefined, undefined, { unreadReceipts: unread })
      await bound(one)
      unread.isAway = true
      expect(await one.smsc.sendOctets(octets)).toMatchObject({ command, status: COMMAND_STATUS.ESME_RX_T_APPN })
      expect([unread.receipts, one.carrier.status().unreadable]).toEqual([[], 0])
      unread.isAway = false
      expect(await one.smsc.sendOctets(octets)).toMatchObject({ command, status: 0 })
      expect(unread.receipts).toMatchObject([{ number: '27825550101', text: '', isMessage: false }])
      expect(unread.receipts[0]?.pdu).toContain(octets.subarray(16).toString('hex'))
      const line = 'carrier test: 1 PDU that cannot be read is kept: gateway carrier receipts test --unread'
      expect([one.problems, one.carrier.status().unreadable, one.inbound, one.receipts]).toEqual([[line], 1, [], []])
    },
  )

  test('a PDU of an unknown kind is refused, and kept once however often it is sent', async () => {
    const unread = aStore()
    const one = await start({}, undefined, undefined, { unreadReceipts: unread })
    await bound(one)
    unread.isAway = true
    const strange = Buffer.from('00000000000009990000000000000000c0ffee', 'hex')
    for (let nth = 1; nth < 4; nth++) {
      const answer = await one.smsc.sendOctets(strange)
      expect(answer).toMatchObject({ command: 'generic_nack', status: COMMAND_STATUS.ESME_RINVCMDID })
    }
    unread.isAway = false
    await until(() => one.carrier.status().unreadable === 3)
    expect(unread.receipts.map(({ pdu }) => pdu.slice(8, 16))).toEqual(['00000999'])
  })

  test('receipts and messages that another release kept are read at the start if this release can read them', async () => {
    const unread = aStore()
    const hex = (pdu: Partial<DeliverSm>): string =>
      Buffer.concat([encodePdu({ ...aDelivery, ...pdu }), Buffer.of(0)]).toString('hex')
    const pdus = [{ shortMessage: Buffer.from('STOP') }, { esmClass: 4, shortMessage: receiptText('id-1') }]
    const empty = { carrier: aCarrierId('test'), reference: undefined, number: undefined, text: '', isMessage: false }
    await unread.keep(pdus.map((pdu) => ({ ...empty, pdu: lengthened(hex(pdu)) })))
    const { inbound, receipts } = await start({}, undefined, undefined, { unreadReceipts: unread })
    await until(() => unread.receipts.length === 0)
    expect(inbound).toMatchObject([{ text: 'STOP', from: '27825550101', reference: 'unread-1', offer: undefined }])
    expect(receipts).toMatchObject([{ reference: 'id-1', code: 0 }])
  })

  /** Returns a PDU with a command_length one octet too large. */
  function lengthened(hex: string): string {
    const octets = Buffer.from(hex, 'hex')
    octets.writeUInt32BE(octets.length)
    return octets.toString('hex')
  }
})

describe('messages whose receipt has the state unknown', () => {
  const unknown = { reference: 'id-1', number: aNumber('27825550101'), from: anAddress('12025550100') }

  /** Starts a carrier that queries as soon and as often as possible. */
  async function asking(answer: (query: ReceivedPdu, smsc: Smsc) => Pdu | undefined) {
    const counts: number[] = []
    const keptIds: string[] = []
    const unknownMessages: CarrierHandlers['unknownMessages'] = {
      keep: (references) => Promise.resolve(void keptIds.push(...references)),
      take: ({ countMax }) => Promise.resolve(counts.push(countMax) > 3 ? [] : [unknown]),
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
      counts,
      keptIds,
      queries: () => started.smsc.received.filter((one) => one.command === 'query_sm'),
    }
  }
  const state = (pdu: ReceivedPdu, smsc: Smsc, messageState: number, status = 0): Pdu =>
    smsc.respond(pdu, { messageId: 'id-1', finalDate: '', messageState, errorCode: 0, status })

  test('are stored and queried, and the response to the query is their receipt', async () => {
    const { smsc, carrier, receipts, keptIds, counts, queries } = await asking((pdu, id) => state(pdu, id, 2))
    await until(() => receipts.length === 3)
    expect(queries()[0]).toMatchObject({ messageId: 'id-1', sourceAddrTon: 1, sourceAddr: '12025550100' })
    expect(receipts[0]).toMatchObject({ carrier: 'test', reference: 'id-1', code: 0, number: '27825550101' })
    expect(counts.slice(0, 2)).toEqual([1, 5])
    await until(() => carrier.status().links.every(({ boundSince }) => boundSince !== undefined))
    expect(await smsc.deliver({ esmClass: 4, shortMessage: receiptText('id-8', 'UNKNOWN') })).toBe(0)
    expect(await smsc.deliver({ esmClass: 4, shortMessage: receiptText('id-9') })).toBe(0)
    expect(keptIds).toEqual(['id-8'])
  })

  test('stay unchanged if a query fails or its response has no state', async () => {
    let nth = 0
    const { receipts, queries, problems } = await asking((pdu, id) =>
      ++nth === 1 ? state(pdu, id, 0, COMMAND_STATUS.ESME_RQUERYFAIL) : state(pdu, id, nth === 2 ? 0 : 5),
    )
    await until(() => receipts.length === 1)
    expect(receipts).toMatchObject([{ code: 103 }])
    expect([queries().length, problems]).toEqual([3, []])
  })

  test.each([
    ['refuses it', (pdu: ReceivedPdu): Pdu | undefined => aNack(pdu)],
    ['ignores it', (): Pdu | undefined => undefined],
  ])('a carrier that %s is not queried again, and its link stays open', async (_, answer) => {
    const { smsc, queries, problems, counts } = await asking(answer)
    await until(() => problems.length > 0)
    expect(String(problems[0])).toContain('does not understand query_sm')
    expect([queries().length, counts.length, smsc.connections.size]).toEqual([1, 1, 1])
  })
})
