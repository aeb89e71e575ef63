import fc from 'fast-check'
import type { Pdu } from '../src/index.ts'

export const octet = fc.nat(255)
export const word = fc.nat(0xffffffff)
const latin1 = (max: number) =>
  fc.array(fc.integer({ min: 1, max: 255 }), { maxLength: max }).map((codes) => String.fromCharCode(...codes))
export const bytes = (max: number) => fc.uint8Array({ maxLength: max }).map((value) => Buffer.from(value))
const tlvs = fc.array(fc.record({ tag: fc.nat(0xffff), value: bytes(300) }), { maxLength: 4 })
const head = { status: word, sequence: word, tlvs }
const source = { sourceAddrTon: octet, sourceAddrNpi: octet, sourceAddr: latin1(20) }
const destination = { destAddrTon: octet, destAddrNpi: octet, destinationAddr: latin1(20) }
const times = { scheduleDeliveryTime: latin1(16), validityPeriod: latin1(16) }
const message = { smDefaultMsgId: octet, shortMessage: bytes(255) }
const flags = {
  ...{ esmClass: octet, protocolId: octet, priorityFlag: octet, registeredDelivery: octet },
  ...{ replaceIfPresentFlag: octet, dataCoding: octet },
}
const whole = { serviceType: latin1(5), ...source, ...flags, ...times, ...message }
const messageId = latin1(80)

/** Generators of the fields of every PDU. In a response without a body the fields have their empty values. */
export const FIELDS = {
  submit_sm: { ...whole, ...destination },
  deliver_sm: { ...whole, ...destination },
  submit_sm_resp: { messageId },
  deliver_sm_resp: { messageId },
  data_sm_resp: { messageId },
  data_sm: {
    ...{ serviceType: latin1(5), sourceAddrTon: octet, sourceAddrNpi: octet, sourceAddr: latin1(64) },
    ...{ destAddrTon: octet, destAddrNpi: octet, destinationAddr: latin1(64) },
    ...{ esmClass: octet, registeredDelivery: octet, dataCoding: octet },
  },
  ...all(['bind_receiver', 'bind_transmitter', 'bind_transceiver'], {
    ...{ systemId: latin1(15), password: latin1(8), systemType: latin1(12), interfaceVersion: octet },
    ...{ addrTon: octet, addrNpi: octet, addressRange: latin1(40) },
  }),
  ...all(['bind_receiver_resp', 'bind_transmitter_resp', 'bind_transceiver_resp'], { systemId: latin1(15) }),
  outbind: { systemId: latin1(15), password: latin1(8) },
  submit_multi: {
    ...whole,
    destinations: fc.array(fc.oneof(fc.record(destination), fc.record({ distributionList: latin1(20) })), {
      maxLength: 20,
    }),
  },
  submit_multi_resp: {
    messageId,
    unsuccessSmes: fc.array(fc.record({ ...destination, errorStatusCode: word }), { maxLength: 20 }),
  },
  query_sm: { messageId, ...source },
  query_sm_resp: { messageId, finalDate: latin1(16), messageState: octet, errorCode: octet },
  cancel_sm: { serviceType: latin1(5), messageId, ...source, ...destination },
  replace_sm: { messageId, ...source, ...times, registeredDelivery: octet, ...message },
  alert_notification: {
    ...{ sourceAddrTon: octet, sourceAddrNpi: octet, sourceAddr: latin1(64) },
    ...{ esmeAddrTon: octet, esmeAddrNpi: octet, esmeAddr: latin1(64) },
  },
  ...all(['generic_nack', 'unbind', 'unbind_resp', 'enquire_link', 'enquire_link_resp'], {}),
  ...all(['cancel_sm_resp', 'replace_sm_resp'], {}),
}

function all<C extends string, F>(commands: readonly C[], fields: F) {
  return Object.fromEntries(commands.map((command) => [command, fields])) as Record<C, F>
}

export const pdus = Object.entries(FIELDS).map(
  ([command, fields]) =>
    fc.record({ command: fc.constant(command), ...head, ...fields }) as unknown as fc.Arbitrary<Pdu>,
)
export const anyPdu = fc.oneof(...pdus)
