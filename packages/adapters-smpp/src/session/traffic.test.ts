import type { ObservedTraffic } from '@gateway/core/fleet'
import { noTlvs, TLV_TAG, type DeliverSm, type Pdu, type SubmitSm } from '@gateway/smpp'
import { smppDefaults } from '../settings.ts'
import { Traffic } from './traffic.ts'

const settings = { ...smppDefaults, host: 'h', port: 1, systemId: 'us', password: 'pa55' }
const head = { status: 0, tlvs: noTlvs }

const message = {
  ...{ ...head, serviceType: '', sourceAddrTon: 1, sourceAddrNpi: 1, destAddrTon: 1, destAddrNpi: 1 },
  ...{ esmClass: 0, protocolId: 0, priorityFlag: 0, scheduleDeliveryTime: '', validityPeriod: '' },
  ...{ registeredDelivery: 1, replaceIfPresentFlag: 0, dataCoding: 0, smDefaultMsgId: 0 },
}
const submit = (sequence: number, destinationAddr: string, more: Partial<SubmitSm> = {}): SubmitSm => ({
  ...{ ...message, command: 'submit_sm', sequence, sourceAddr: 'ACME', destinationAddr },
  shortMessage: Buffer.from('Code 1234'),
  ...more,
})
const deliver = (sequence: number, more: Partial<DeliverSm> = {}): DeliverSm => ({
  ...{ ...message, command: 'deliver_sm', sequence, sourceAddr: '27825550101', destinationAddr: 'ACME' },
  shortMessage: Buffer.from('My answer'),
  ...more,
})
const answer = (command: 'submit_sm_resp' | 'deliver_sm_resp', sequence: number): Pdu => ({
  ...{ ...head, command, sequence, messageId: 'id-1' },
})

function watched(number: string | undefined, hasText = false) {
  const traffic = new Traffic(settings)
  const seen: ObservedTraffic[] = []
  const observer = { number, hasText, saw: (pdu: ObservedTraffic) => void seen.push(pdu) }
  traffic.observe([observer])
  return { ...{ traffic, seen, observer }, link: traffic.link('transceiver') }
}

test('passwords and texts are not shown, only the fields of a receipt', () => {
  const { link, seen, traffic } = watched(undefined)
  const fields = { systemType: '', interfaceVersion: 52, addrTon: 0, addrNpi: 0, addressRange: '' }
  link('sent', { ...head, ...fields, command: 'bind_transceiver', sequence: 1, systemId: 'us', password: 'pa55' })
  const payload = { tag: TLV_TAG.message_payload, value: Buffer.from('Code 1234') }
  link('sent', submit(2, '27825550101', { tlvs: [payload, { tag: TLV_TAG.sar_total_segments, value: Buffer.of(2) }] }))
  const text = 'id:7 sub:001 dlvrd:001 submit date:2610180700 done date:2610180700 stat:DELIVRD err:000 text:Code 1234'
  link('received', deliver(3, { esmClass: 4, shortMessage: Buffer.from(text) }))
  link('received', { command: 'unknown', commandId: 9, status: 0, sequence: 4, body: Buffer.from('Code 1234') })
  const shown = JSON.stringify(seen)
  for (const secret of ['pa55', 'Code', Buffer.from('Code').toString('hex')]) expect(shown).not.toContain(secret)
  expect(seen.map(({ fields: of }) => [of['shortMessage'], of['password'], of['tlvs'], of['body']])).toEqual([
    [undefined, '***', undefined, undefined],
    ['9 octets', undefined, [['message_payload', '9 octets'], ['sar_total_segments', '02']], undefined], // prettier-ignore
    [`${text.length} octets`, undefined, undefined, undefined],
    [undefined, undefined, undefined, '9 octets'],
  ])
  expect(seen[2]?.fields['receipt']).toBe(text.slice(0, text.indexOf(' text:')))
  traffic.observe([])
  link('sent', submit(5, '27825550101'))
  expect(seen).toHaveLength(4)
})

test('an observer with hasText sees the decoded text without its header', () => {
  const { link, seen } = watched(undefined, true)
  const octets = Buffer.concat([Buffer.of(5, 0, 3, 1, 2, 1), Buffer.from('Привет', 'utf16le').swap16()])
  link('sent', submit(1, '27825550101', { esmClass: 0x40, dataCoding: 8, shortMessage: octets }))
  expect(seen[0]?.fields).toMatchObject({ text: 'Привет', shortMessage: octets.toString('hex') })
})

test('an observer of a number sees its PDUs in any number form, and the responses over the same link', () => {
  const { link, seen, traffic, observer } = watched('27825550101')
  const other = traffic.link('receiver')
  link('sent', submit(1, '0825550101'))
  link('sent', submit(2, '27825550102'))
  link('sent', { ...head, command: 'enquire_link', sequence: 3 })
  link('received', answer('submit_sm_resp', 2))
  other('received', answer('submit_sm_resp', 1))
  // The sequence numbers of the carrier's own requests may equal ours.
  link('received', deliver(1))
  traffic.observe([observer])
  link('received', answer('submit_sm_resp', 1))
  link('sent', answer('deliver_sm_resp', 1))
  link('received', answer('submit_sm_resp', 1))
  expect(seen.map(({ direction, fields }) => [direction, fields['command'], fields['sequence']])).toEqual([
    ['sent', 'submit_sm', 1],
    ['received', 'deliver_sm', 1],
    ['received', 'submit_sm_resp', 1],
    ['sent', 'deliver_sm_resp', 1],
  ])
})
