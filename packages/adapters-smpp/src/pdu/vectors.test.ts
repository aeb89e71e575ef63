import { decodePdu, encodePdu, noTlvs, type Pdu, type SubmitSm } from './index.ts'

const submit: SubmitSm = {
  command: 'submit_sm',
  ...{ status: 0, sequence: 2, serviceType: '', sourceAddrTon: 5, sourceAddrNpi: 0, sourceAddr: 'ACME' },
  ...{ destAddrTon: 1, destAddrNpi: 1, destinationAddr: '27825550101', esmClass: 0, protocolId: 0, priorityFlag: 0 },
  ...{ scheduleDeliveryTime: '', validityPeriod: '', registeredDelivery: 1, replaceIfPresentFlag: 0, dataCoding: 0 },
  ...{ smDefaultMsgId: 0, shortMessage: Buffer.from('Hi'), tlvs: noTlvs },
}
// service_type, source 5 0 "ACME", destination 1 1 "27825550101".
const addresses = '00 05 00 41434d4500 01 01 323738323535353031303100'

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
]

test.each(VECTORS)('%s', (_, pdu, octets) => {
  const bytes = Buffer.from(octets.replaceAll(' ', ''), 'hex')
  expect(encodePdu(pdu).toString('hex')).toBe(bytes.toString('hex'))
  expect(decodePdu(bytes)).toEqual(pdu)
})
