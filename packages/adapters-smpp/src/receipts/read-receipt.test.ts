import { integerTlv, noTlvs, textTlv, TLV_TAG, type DeliverSm, type Tlv } from '../pdu/index.ts'
import { smppSettingsFromUrl } from '../from-url.ts'
import { readReceipt, readReceiptByText } from './read-receipt.ts'

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

test('TLVs count more than the text, which tells what they leave open', () => {
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

describe('a receipt that only its text tells of', () => {
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
  ])('%s: it is a message of a person', (_, written) => {
    expect(readReceiptByText(plain(written), settings())).toBeUndefined()
  })

  test('a header of parts, or numbers that tell nothing: it is a message of a person', () => {
    expect(readReceiptByText(plain(text, 0x40), settings())).toBeUndefined()
    expect(readReceiptByText(plain(text), settings('?receiptNumbers=none'))).toBeUndefined()
  })
})

test('where times of the carrier are known, the text tells when a message was submitted whatever the TLVs tell', () => {
  const submitted = Date.UTC(2026, 10, 22, 8, 30)
  expect(readReceipt(receipt([id, delivered]), settings('?utcOffset=%2B02:00'))).toMatchObject({ submitted })
})
