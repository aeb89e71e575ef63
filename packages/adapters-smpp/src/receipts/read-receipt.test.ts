import fc from 'fast-check'
import { smppSettingsFromUrl } from '../from-url.ts'
import { integerTlv, noTlvs, textTlv, TLV_TAG, type DeliverSm, type Tlv } from '@gateway/smpp'
import { readReceipt, readReceiptByText, codeOfState, momentOf, readReceiptText } from './read-receipt.ts'

const text = 'id:in-text sub:001 dlvrd:001 submit date:2611221030 done date:2611221031 stat:UNDELIV err:000 text:'
const id = textTlv(TLV_TAG.receipted_message_id, 'in-tlv')
const delivered = integerTlv(TLV_TAG.message_state, 1, 2)

const receipt = (tlvs: readonly Tlv[], shortMessage = Buffer.from(text)): DeliverSm => ({
  ...{ command: 'deliver_sm', status: 0, sequence: 1, serviceType: '', sourceAddrTon: 1, sourceAddrNpi: 1 },
  ...{ sourceAddr: '27821234567', destAddrTon: 1, destAddrNpi: 1, destinationAddr: '27820000000', esmClass: 4 },
  ...{ protocolId: 0, priorityFlag: 0, scheduleDeliveryTime: '', validityPeriod: '', registeredDelivery: 0 },
  ...{ replaceIfPresentFlag: 0, dataCoding: 0, smDefaultMsgId: 0, shortMessage, tlvs },
})

const settings = (parameters = '') => smppSettingsFromUrl(`smpp://me:secret@127.0.0.1:2775${parameters}`)
const number = '27821234567'

test('TLVs take precedence over the text, which fills in missing values', () => {
  const read = (...tlvs: readonly Tlv[]) => readReceipt(receipt(tlvs), settings())
  expect(read(id, delivered)).toEqual({ id: 'in-tlv', code: 0, number, submitted: undefined })
  expect(read(id)).toEqual({ ...Object(read()), id: 'in-tlv' })
  expect(read(delivered)).toEqual({ id: 'in-text', code: 0, number, submitted: undefined })
  expect(readReceipt(receipt(noTlvs, Buffer.alloc(0)), settings())).toBe('unreadable')
})

test.each([
  [0, 'DELIVRD', 0],
  [0, 'UNDELIV', 103],
  [77, 'DELIVRD', 0],
  [2, 'UNDELIV', 0],
  [9, 'DELIVRD', 213],
] as const)(
  'message_state %i beside stat:%s is %i: a state that receipts do not have tells nothing',
  (state, word, code) => {
    const written = Buffer.from(text.replace('UNDELIV', word))
    const tlvs = [id, integerTlv(TLV_TAG.message_state, 1, state)]
    expect(readReceipt(receipt(tlvs, written), settings())).toMatchObject({ id: 'in-tlv', code })
  },
)

test('message_state 0 without a text is still under way', () => {
  const tlvs = [id, integerTlv(TLV_TAG.message_state, 1, 0)]
  expect(readReceipt(receipt(tlvs, Buffer.alloc(0)), settings())).toMatchObject({ id: 'in-tlv', code: 105 })
})

describe('a receipt by its text alone', () => {
  const plain = (written: string, esmClass = 0): DeliverSm => ({
    ...receipt(noTlvs, Buffer.from(written)),
    esmClass,
  })

  test.each([text, text.replace(' text:', ''), text.replace('UNDELIV', 'DELIVRD').replace('261122', '20261122')])(
    'counts for its own number: %s',
    (written) => {
      expect(readReceiptByText(plain(written), settings())).toMatchObject({
        id: 'in-text',
        number,
        isByTextAlone: true,
      })
    },
  )

  test.each([
    ['words before it', `FYI ${text}`],
    ['a field left out', text.replace(' dlvrd:001', '')],
    ['another order', 'stat:DELIVRD id:1 sub:001 dlvrd:001 submit date:2611221030 done date:2611221031 err:000'],
    ['something behind its last field', text.replace(' text:', ' and more')],
    ['what a person writes', 'id: 7, stat: hungry'],
  ])('%s: it is an inbound message', (_, written) => {
    expect(readReceiptByText(plain(written), settings())).toBeUndefined()
  })

  test('with a header of parts, or unusable numbers, the text is an inbound message', () => {
    expect(readReceiptByText(plain(text, 0x40), settings())).toBeUndefined()
    expect(readReceiptByText(plain(text), settings('?receiptNumbers=none'))).toBeUndefined()
  })
})

test('with a configured UTC offset, the time of submission is read from the text even if TLVs are complete', () => {
  const submitted = Date.UTC(2026, 10, 22, 8, 30)
  expect(readReceipt(receipt([id, delivered]), settings('?utcOffset=%2B02:00'))).toMatchObject({ submitted })
})

test.each([
  ['id:1A2b sub:001 dlvrd:001 submit date:2601021200 done date:2601021201 stat:DELIVRD err:000 text:hi', '1A2b', 0],
  ['id:0118Z-0122I-23 sub:000 dlvrd:000 submitdate:260102120001 stat:REJECTD err:375 text:', '0118Z-0122I-23', 107],
  ['ID:7 SUB:1 STAT:undeliv ERR:0A2 Text: id:9 stat:DELIVRD', '7', 103],
  ['stat:EXPIRED id:00042', '00042', 101],
  ['id: "77" stat: DELETED', '77', 102],
  ['id:1 stat:ACCEPTD', '1', 105],
  ['id:1 stat:ENROUTE', '1', 105],
  ['id:1 stat:UNKNOWN', '1', 106],
  ['id:1 stat:FAILED', '1', 213],
  ['id:1 stat:NONSENSE', '1', 106],
  ['id:1', '1', undefined],
  ['text:id:1 stat:DELIVRD', undefined, undefined],
])('%j is of message %j and says %j', (text, id, code) => {
  expect(readReceiptText(text)).toMatchObject({ id, code })
})

test('any text is read without an error', () => {
  fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => typeof readReceiptText(text) === 'object'))
})

test('message_state has the order of the standard, and other values are unknown', () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 77].map(codeOfState)).toEqual([
    105, 105, 0, 101, 102, 103, 105, 106, 107, 213, 106,
  ])
})

test.each([
  ['2601021200', 0, '2026-01-02T12:00:00.000Z'],
  ['260102120007', 120, '2026-01-02T10:00:07.000Z'],
  ['20260102120007', -330, '2026-01-02T17:30:07.000Z'],
])('%s at %i minutes is %s', (digits, offset, moment) => {
  expect(new Date(momentOf(digits, offset) ?? 0).toISOString()).toBe(moment)
})

test.each(['0000000000', '2613021200', 'abc'])('%s is no time', (digits) => {
  expect(momentOf(digits, 0)).toBeUndefined()
})
