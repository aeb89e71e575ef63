import type { CarrierHandlers } from '@gateway/core/dispatch'
import { anAddress, aNumber, until } from '@gateway/core/testing'
import { aDelivery, aNack, aStore, endAll, receiptText, start, type Smsc } from '../../testing/an-smsc.ts'
import { COMMAND_STATUS, encodePdu, textTlv, TLV_TAG, type Pdu, type ReceivedPdu } from '../pdu/index.ts'

afterEach(endAll)

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
        isMessage: false,
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
