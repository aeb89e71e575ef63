import { decodePdu, encodePdu, noTlvs, type Pdu, type SubmitSm } from './index.ts'

const submit: SubmitSm = {
  command: 'submit_sm',
  ...{ status: 0, sequence: 2, serviceType: '', sourceAddrTon: 5, sourceAddrNpi: 0, sourceAddr: 'ACME' },
  ...{ destAddrTon: 1, destAddrNpi: 1, destinationAddr: '27825550101', esmClass: 0, protocolId: 0, priorityFlag: 0 },
  ...{ scheduleDeliveryTime: '', validityPeriod: '', registeredDelivery: 1, replaceIfPresentFlag: 0, dataCoding: 0 },
  ...{ smDefaultMsgId: 0, shortMessage: Buffer.from('Hi'), tlvs: noTlvs },
}
const source = { sourceAddrTon: 5, sourceAddrNpi: 0, sourceAddr: 'ACME' }
const destination = { destAddrTon: 1, destAddrNpi: 1, destinationAddr: '27825550101' }
const octetsOfSource = '05 00 41434d4500'
const octetsOfDestination = '01 01 323738323535353031303100'
// service_type, source 5 0 "ACME", destination 1 1 "27825550101".
const addresses = `00 ${octetsOfSource} ${octetsOfDestination}`

/** Octets in the order of the tables of SMPP 3.4, written and counted by hand. */
const VECTORS: readonly (readonly [string, Pdu, string])[] = [
  [
    'bind_transmitter, the sample PDU of the standard (3.2.3)',
    {
      command: 'bind_transmitter',
      ...{ status: 0, sequence: 1, systemId: 'SMPP3TEST', password: 'secret08', systemType: 'SUBMIT1' },
      ...{ interfaceVersion: 0, addrTon: 1, addrNpi: 1, addressRange: '', tlvs: noTlvs },
    },
    '0000002f 00000002 00000000 00000001 534d50503354455354 00 7365637265743038 00 5355424d495431 00 00 01 01 00',
  ],
  [
    'enquire_link (4.11.1)',
    { command: 'enquire_link', status: 0, sequence: 0x7fffffff, tlvs: noTlvs },
    '00000010 00000015 00000000 7fffffff',
  ],
  [
    'generic_nack with ESME_RINVCMDLEN (4.3.1)',
    { command: 'generic_nack', status: 2, sequence: 0, tlvs: noTlvs },
    '00000010 80000000 00000002 00000000',
  ],
  ['submit_sm (4.4.1)', submit, `00000032 00000004 00000000 00000002 ${addresses} 00 00 00 00 00 01 00 00 00 02 4869`],
  [
    'submit_sm, the second of three parts with an 8-bit reference (3GPP TS 23.040, 9.2.3.24.1)',
    { ...submit, esmClass: 0x40, shortMessage: Buffer.from([5, 0, 3, 0xab, 3, 2, 0x48, 0x69]) },
    `00000038 00000004 00000000 00000002 ${addresses} 40 00 00 00 00 01 00 00 00 08 050003ab03024869`,
  ],
  [
    'submit_sm, the first of two parts by sar TLVs (5.3.2.22 to 5.3.2.24)',
    {
      ...submit,
      tlvs: [
        { tag: 0x020c, value: Buffer.from([0x12, 0x34]) },
        { tag: 0x020e, value: Buffer.from([2]) },
        { tag: 0x020f, value: Buffer.from([1]) },
      ],
    },
    `00000042 00000004 00000000 00000002 ${addresses} 00 00 00 00 00 01 00 00 00 02 4869 ` +
      '020c 0002 1234 020e 0001 02 020f 0001 01',
  ],
  [
    'submit_sm_resp (4.4.2)',
    { command: 'submit_sm_resp', status: 0, sequence: 2, messageId: '3A9F', tlvs: noTlvs },
    '00000015 80000004 00000000 00000002 33413946 00',
  ],
  [
    'submit_sm_resp with ESME_RTHROTTLED, which has no body (4.4.2)',
    { command: 'submit_sm_resp', status: 0x58, sequence: 2, messageId: '', tlvs: noTlvs },
    '00000010 80000004 00000058 00000002',
  ],
  [
    'bind_transceiver_resp with sc_interface_version (4.1.6, 5.3.2.25)',
    {
      command: 'bind_transceiver_resp',
      ...{ status: 0, sequence: 1, systemId: 'SMSC', tlvs: [{ tag: 0x0210, value: Buffer.of(0x34) }] },
    },
    '0000001a 80000009 00000000 00000001 534d534300 0210 0001 34',
  ],
  [
    'outbind (4.1.7)',
    { command: 'outbind', status: 0, sequence: 1, systemId: 'SMSC', password: 'secret08', tlvs: noTlvs },
    '0000001e 0000000b 00000000 00000001 534d534300 736563726574303800',
  ],
  [
    'unbind (4.2.1)',
    { command: 'unbind', status: 0, sequence: 3, tlvs: noTlvs },
    '00000010 00000006 00000000 00000003',
  ],
  [
    'submit_multi to a number and a list (4.5.1)',
    {
      command: 'submit_multi',
      ...{ status: 0, sequence: 2, serviceType: '', ...source, esmClass: 0, protocolId: 0, priorityFlag: 0 },
      destinations: [destination, { distributionList: 'list' }],
      ...{ scheduleDeliveryTime: '', validityPeriod: '', registeredDelivery: 1, replaceIfPresentFlag: 0 },
      ...{ dataCoding: 0, smDefaultMsgId: 0, shortMessage: Buffer.from('Hi'), tlvs: noTlvs },
    },
    `0000003a 00000021 00000000 00000002 00 ${octetsOfSource} 02 01 ${octetsOfDestination} 02 6c69737400 ` +
      '00 00 00 00 00 01 00 00 00 02 4869',
  ],
  [
    'submit_multi_resp with one number that was refused (4.5.2)',
    {
      command: 'submit_multi_resp',
      ...{ status: 0, sequence: 2, messageId: '3A9F', tlvs: noTlvs },
      unsuccessSmes: [{ ...destination, errorStatusCode: 0x0b }],
    },
    `00000028 80000021 00000000 00000002 3341394600 01 ${octetsOfDestination} 0000000b`,
  ],
  [
    'deliver_sm, a receipt in text and TLVs (4.6.1, 5.3.2.12, 5.3.2.35)',
    {
      ...submit,
      ...{ command: 'deliver_sm', sequence: 9, ...source, ...destination, esmClass: 4, registeredDelivery: 0 },
      shortMessage: Buffer.from('id:7'),
      tlvs: [
        { tag: 0x001e, value: Buffer.from('7\0') },
        { tag: 0x0427, value: Buffer.of(2) },
      ],
    },
    `0000003f 00000005 00000000 00000009 ${addresses} 04 00 00 00 00 00 00 00 00 04 69643a37 001e 0002 3700 0427 0001 02`,
  ],
  [
    'data_sm with message_payload (4.7.1, 5.3.2.32)',
    {
      ...{ command: 'data_sm', status: 0, sequence: 2, serviceType: '', ...source, ...destination },
      ...{ esmClass: 0, registeredDelivery: 1, dataCoding: 0 },
      tlvs: [{ tag: 0x0424, value: Buffer.from('Hi') }],
    },
    `0000002f 00000103 00000000 00000002 ${addresses} 00 01 00 0424 0002 4869`,
  ],
  [
    'query_sm (4.8.1)',
    { command: 'query_sm', status: 0, sequence: 2, messageId: '3A9F', ...source, tlvs: noTlvs },
    `0000001c 00000003 00000000 00000002 3341394600 ${octetsOfSource}`,
  ],
  [
    'query_sm_resp with a final_date (4.8.2, 7.1.1)',
    {
      ...{ command: 'query_sm_resp', status: 0, sequence: 2, messageId: '3A9F', finalDate: '260102120000000+' },
      ...{ messageState: 2, errorCode: 0, tlvs: noTlvs },
    },
    '00000028 80000003 00000000 00000002 3341394600 3236303130323132303030303030302b00 02 00',
  ],
  [
    'cancel_sm (4.9.1)',
    {
      ...{ command: 'cancel_sm', status: 0, sequence: 2, serviceType: '', messageId: '3A9F' },
      ...{ ...source, ...destination, tlvs: noTlvs },
    },
    `0000002b 00000008 00000000 00000002 00 3341394600 ${octetsOfSource} ${octetsOfDestination}`,
  ],
  [
    'replace_sm (4.10.1)',
    {
      ...{ command: 'replace_sm', status: 0, sequence: 2, messageId: '3A9F', ...source, scheduleDeliveryTime: '' },
      ...{ validityPeriod: '', registeredDelivery: 1, smDefaultMsgId: 0, shortMessage: Buffer.from('Hi') },
      tlvs: noTlvs,
    },
    `00000023 00000007 00000000 00000002 3341394600 ${octetsOfSource} 00 00 01 00 02 4869`,
  ],
  [
    'alert_notification with ms_availability_status (4.12.1, 5.3.2.30)',
    {
      ...{ command: 'alert_notification', status: 0, sequence: 2 },
      ...{ sourceAddrTon: 1, sourceAddrNpi: 1, sourceAddr: '27825550101' },
      ...{ esmeAddrTon: 5, esmeAddrNpi: 0, esmeAddr: 'ACME', tlvs: [{ tag: 0x0422, value: Buffer.of(0) }] },
    },
    `0000002a 00000102 00000000 00000002 ${octetsOfDestination} ${octetsOfSource} 0422 0001 00`,
  ],
]

test.each(VECTORS)('%s', (_, pdu, octets) => {
  const bytes = Buffer.from(octets.replaceAll(' ', ''), 'hex')
  expect(encodePdu(pdu).toString('hex')).toBe(bytes.toString('hex'))
  expect(decodePdu(bytes)).toEqual(pdu)
})
