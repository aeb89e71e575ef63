import { integerTlv, noTlvs, textTlv, TLV_TAG, type DeliverSm, type Tlv } from '../pdu/index.ts'
import { smppSettingsFromUrl } from '../from-url.ts'
import { readReceipt } from './read-receipt.ts'

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

test('where times of the carrier are known, the text tells when a message was submitted whatever the TLVs tell', () => {
  const submitted = Date.UTC(2026, 10, 22, 8, 30)
  expect(readReceipt(receipt([id, delivered]), settings('?utcOffset=%2B02:00'))).toMatchObject({ submitted })
})
