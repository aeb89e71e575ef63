import { encodePdu, noTlvs, pduWriter, type Bind, type Pdu, type SubmitSm } from './index.ts'

const bind: Bind = {
  command: 'bind_transceiver',
  ...{ status: 0, sequence: 1, systemId: 'me', password: 'secret', systemType: '', interfaceVersion: 0x34 },
  ...{ addrTon: 0, addrNpi: 0, addressRange: '', tlvs: noTlvs },
}

const submit: SubmitSm = {
  command: 'submit_sm',
  ...{ status: 0, sequence: 1, serviceType: '', sourceAddrTon: 1, sourceAddrNpi: 1, sourceAddr: '1', destAddrTon: 1 },
  ...{ destAddrNpi: 1, destinationAddr: '2', esmClass: 0, protocolId: 0, priorityFlag: 0, scheduleDeliveryTime: '' },
  ...{ validityPeriod: '', registeredDelivery: 1, replaceIfPresentFlag: 0, dataCoding: 0, smDefaultMsgId: 0 },
  ...{ shortMessage: Buffer.from('hello'), tlvs: noTlvs },
}

test.each<[string, Pdu]>([
  ['a password of 65 characters', { ...bind, password: 'x'.repeat(65) }],
  ['a NUL in a text', { ...bind, systemId: 'a\0b' }],
  ['a character beyond Latin-1', { ...bind, systemId: 'Łódź' }],
  ['an octet of 256', { ...bind, addrTon: 256 }],
  ['an octet of -1', { ...bind, addrTon: -1 }],
  ['an octet of 1.5', { ...bind, addrTon: 1.5 }],
  ['a sequence of 33 bits', { ...bind, sequence: 2 ** 32 }],
  ['a short_message of 256 octets', { ...submit, shortMessage: Buffer.alloc(256) }],
  ['a TLV of 65536 octets', { ...submit, tlvs: [{ tag: 1, value: Buffer.alloc(65_536) }] }],
  ['a tag of 17 bits', { ...submit, tlvs: [{ tag: 65_536, value: Buffer.alloc(1) }] }],
])('%s throws a RangeError and leaves what was written before', (_, pdu) => {
  const writer = pduWriter()
  writer.write(bind)
  expect(() => writer.write(pdu)).toThrow(RangeError)
  writer.write(submit)
  expect(writer.take()).toEqual(Buffer.concat([encodePdu(bind), encodePdu(submit)]))
})

test('octets that were taken are not overwritten by later writes', () => {
  const writer = pduWriter(256)
  const first: Buffer[] = []
  for (let sequence = 1; sequence <= 200; sequence++) {
    writer.write({ ...submit, sequence })
    if (sequence % 3 === 0) first.push(writer.take())
  }
  const expected = Array.from({ length: 198 }, (_, at) => encodePdu({ ...submit, sequence: at + 1 }))
  expect(Buffer.concat(first)).toEqual(Buffer.concat(expected))
})

test.each<[string, Pdu]>([
  ['submit_sm_resp', { command: 'submit_sm_resp', status: 0x58, sequence: 1, messageId: '', tlvs: noTlvs }],
  ['bind_transceiver_resp', { command: 'bind_transceiver_resp', status: 5, sequence: 1, systemId: '', tlvs: noTlvs }],
])('a refusing %s has no body', (_, pdu) => {
  expect(encodePdu(pdu)).toHaveLength(16)
})
