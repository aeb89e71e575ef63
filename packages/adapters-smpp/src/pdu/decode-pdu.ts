import { FIELD_SIZE, COMMAND_ID, COMMAND_STATUS, headerOctets, TLV_TAG } from './constants.ts'
import { lastText, octet, octets, text, tlvs, fail, integer, cursor, type Cursor } from './cursor.ts'
import type {
  DataSm,
  DataSmResp,
  DeliverSm,
  DeliverSmResp,
  SubmitSm,
  SubmitSmResp,
  AlertNotification,
  Bind,
  BindResp,
  Outbind,
  CancelSm,
  MultiDestination,
  QuerySm,
  QuerySmResp,
  ReplaceSm,
  SubmitMulti,
  SubmitMultiResp,
  UnsuccessSme,
  EmptyPdu,
  Pdu,
  MalformedPdu,
  MalformedReason,
  ReceivedPdu,
} from './pdu.ts'

/** sm_length and short_message. */
export const shortMessage = (from: Cursor): Buffer => octets(from, octet(from), 'message-too-long')

/** SMPP 3.4, 4.4.1. */
export const submitSm = (from: Cursor, status: number, sequence: number): SubmitSm => ({
  command: 'submit_sm',
  status,
  sequence,
  serviceType: text(from, FIELD_SIZE.serviceType),
  sourceAddrTon: octet(from),
  sourceAddrNpi: octet(from),
  sourceAddr: text(from, FIELD_SIZE.address),
  destAddrTon: octet(from),
  destAddrNpi: octet(from),
  destinationAddr: text(from, FIELD_SIZE.address),
  esmClass: octet(from),
  protocolId: octet(from),
  priorityFlag: octet(from),
  scheduleDeliveryTime: text(from, FIELD_SIZE.time),
  validityPeriod: text(from, FIELD_SIZE.time),
  registeredDelivery: octet(from),
  replaceIfPresentFlag: octet(from),
  dataCoding: octet(from),
  smDefaultMsgId: octet(from),
  shortMessage: shortMessage(from),
  tlvs: tlvs(from),
})

/** SMPP 3.4, 4.6.1. Written out twice: each kind of PDU then has a hidden class of its own. */
export const deliverSm = (from: Cursor, status: number, sequence: number): DeliverSm => ({
  command: 'deliver_sm',
  status,
  sequence,
  serviceType: text(from, FIELD_SIZE.serviceType),
  sourceAddrTon: octet(from),
  sourceAddrNpi: octet(from),
  sourceAddr: text(from, FIELD_SIZE.address),
  destAddrTon: octet(from),
  destAddrNpi: octet(from),
  destinationAddr: text(from, FIELD_SIZE.address),
  esmClass: octet(from),
  protocolId: octet(from),
  priorityFlag: octet(from),
  scheduleDeliveryTime: text(from, FIELD_SIZE.time),
  validityPeriod: text(from, FIELD_SIZE.time),
  registeredDelivery: octet(from),
  replaceIfPresentFlag: octet(from),
  dataCoding: octet(from),
  smDefaultMsgId: octet(from),
  shortMessage: shortMessage(from),
  tlvs: tlvs(from),
})

/** SMPP 3.4, 4.7.1. */
export const dataSm = (from: Cursor, status: number, sequence: number): DataSm => ({
  command: 'data_sm',
  status,
  sequence,
  serviceType: text(from, FIELD_SIZE.serviceType),
  sourceAddrTon: octet(from),
  sourceAddrNpi: octet(from),
  sourceAddr: text(from, FIELD_SIZE.longAddress),
  destAddrTon: octet(from),
  destAddrNpi: octet(from),
  destinationAddr: text(from, FIELD_SIZE.longAddress),
  esmClass: octet(from),
  registeredDelivery: octet(from),
  dataCoding: octet(from),
  tlvs: tlvs(from),
})

type MessageIdResp = SubmitSmResp | DeliverSmResp | DataSmResp

/**
 * SMPP 3.4, 4.4.2, 4.6.2 and 4.7.2; there may be no body. An id without its NUL is read: else its message would have
 * none.
 */
export const messageIdResp = (
  command: MessageIdResp['command'],
  from: Cursor,
  status: number,
  sequence: number,
): MessageIdResp => ({
  command,
  status,
  sequence,
  messageId: lastText(from),
  tlvs: tlvs(from),
})

/** SMPP 3.4, 4.1.1, 4.1.3 and 4.1.5. */
export const bind =
  (command: Bind['command']) =>
  (from: Cursor, status: number, sequence: number): Bind => ({
    command,
    status,
    sequence,
    systemId: text(from, FIELD_SIZE.systemId),
    password: text(from, FIELD_SIZE.password),
    systemType: text(from, FIELD_SIZE.systemType),
    interfaceVersion: octet(from),
    addrTon: octet(from),
    addrNpi: octet(from),
    addressRange: text(from, FIELD_SIZE.addressRange),
    tlvs: tlvs(from),
  })

/**
 * SMPP 3.4, 4.1.2, 4.1.4 and 4.1.6; there may be no body. Its command_status decides: a name of any length breaks no
 * bind.
 */
export const bindResp =
  (command: BindResp['command']) =>
  (from: Cursor, status: number, sequence: number): BindResp => ({
    command,
    status,
    sequence,
    systemId: lastText(from),
    tlvs: tlvs(from),
  })

/** SMPP 3.4, 4.1.7. */
export const outbind = (from: Cursor, status: number, sequence: number): Outbind => ({
  command: 'outbind',
  status,
  sequence,
  systemId: text(from, FIELD_SIZE.systemId),
  password: text(from, FIELD_SIZE.password),
  tlvs: tlvs(from),
})

/** SMPP 3.4, 4.12.1. */
export const alertNotification = (from: Cursor, status: number, sequence: number): AlertNotification => ({
  command: 'alert_notification',
  status,
  sequence,
  sourceAddrTon: octet(from),
  sourceAddrNpi: octet(from),
  sourceAddr: text(from, FIELD_SIZE.longAddress),
  esmeAddrTon: octet(from),
  esmeAddrNpi: octet(from),
  esmeAddr: text(from, FIELD_SIZE.longAddress),
  tlvs: tlvs(from),
})

/** SMPP 3.4, 4.5.1. */
export const submitMulti = (from: Cursor, status: number, sequence: number): SubmitMulti => ({
  command: 'submit_multi',
  status,
  sequence,
  serviceType: text(from, FIELD_SIZE.serviceType),
  sourceAddrTon: octet(from),
  sourceAddrNpi: octet(from),
  sourceAddr: text(from, FIELD_SIZE.address),
  destinations: several(from, destination),
  esmClass: octet(from),
  protocolId: octet(from),
  priorityFlag: octet(from),
  scheduleDeliveryTime: text(from, FIELD_SIZE.time),
  validityPeriod: text(from, FIELD_SIZE.time),
  registeredDelivery: octet(from),
  replaceIfPresentFlag: octet(from),
  dataCoding: octet(from),
  smDefaultMsgId: octet(from),
  shortMessage: shortMessage(from),
  tlvs: tlvs(from),
})

/** A count in one octet, and so many items; stops at the first that is not whole. */
function several<T>(from: Cursor, item: (from: Cursor) => T): readonly T[] {
  const items: T[] = []
  for (let left = octet(from); left > 0 && from.problem === undefined; left--) items.push(item(from))
  return items
}

function destination(from: Cursor): MultiDestination {
  const flag = octet(from)
  if (flag === 1) return address(from)
  if (flag !== 2) fail(from, 'destination-flag')
  return { distributionList: text(from, FIELD_SIZE.distributionList) }
}

const address = (from: Cursor) => ({
  destAddrTon: octet(from),
  destAddrNpi: octet(from),
  destinationAddr: text(from, FIELD_SIZE.address),
})

/** SMPP 3.4, 4.5.2; there may be no body. */
export function submitMultiResp(from: Cursor, status: number, sequence: number): SubmitMultiResp {
  const hasBody = from.at < from.end
  return {
    command: 'submit_multi_resp',
    status,
    sequence,
    messageId: hasBody ? text(from) : '',
    unsuccessSmes: hasBody ? several(from, unsuccessSme) : [],
    tlvs: tlvs(from),
  }
}

const unsuccessSme = (from: Cursor): UnsuccessSme => ({ ...address(from), errorStatusCode: integer(from) })

/** SMPP 3.4, 4.8.1. */
export const querySm = (from: Cursor, status: number, sequence: number): QuerySm => ({
  command: 'query_sm',
  status,
  sequence,
  messageId: text(from),
  sourceAddrTon: octet(from),
  sourceAddrNpi: octet(from),
  sourceAddr: text(from, FIELD_SIZE.address),
  tlvs: tlvs(from),
})

/** SMPP 3.4, 4.8.2; there may be no body. */
export function querySmResp(from: Cursor, status: number, sequence: number): QuerySmResp {
  const hasBody = from.at < from.end
  return {
    command: 'query_sm_resp',
    status,
    sequence,
    messageId: hasBody ? text(from) : '',
    finalDate: hasBody ? text(from, FIELD_SIZE.time) : '',
    messageState: hasBody ? octet(from) : 0,
    errorCode: hasBody ? octet(from) : 0,
    tlvs: tlvs(from),
  }
}

/** SMPP 3.4, 4.9.1. */
export const cancelSm = (from: Cursor, status: number, sequence: number): CancelSm => ({
  command: 'cancel_sm',
  status,
  sequence,
  serviceType: text(from, FIELD_SIZE.serviceType),
  messageId: text(from),
  sourceAddrTon: octet(from),
  sourceAddrNpi: octet(from),
  sourceAddr: text(from, FIELD_SIZE.address),
  destAddrTon: octet(from),
  destAddrNpi: octet(from),
  destinationAddr: text(from, FIELD_SIZE.address),
  tlvs: tlvs(from),
})

/** SMPP 3.4, 4.10.1. */
export const replaceSm = (from: Cursor, status: number, sequence: number): ReplaceSm => ({
  command: 'replace_sm',
  status,
  sequence,
  messageId: text(from),
  sourceAddrTon: octet(from),
  sourceAddrNpi: octet(from),
  sourceAddr: text(from, FIELD_SIZE.address),
  scheduleDeliveryTime: text(from, FIELD_SIZE.time),
  validityPeriod: text(from, FIELD_SIZE.time),
  registeredDelivery: octet(from),
  smDefaultMsgId: octet(from),
  shortMessage: shortMessage(from),
  tlvs: tlvs(from),
})

/**
 * Reads the PDU that is at `start` and ends before `end`, which its command_length has said. Never throws and reads
 * nothing outside; buffers in the result are views.
 */
export function decodePdu(bytes: Buffer, start = 0, end = bytes.length): ReceivedPdu {
  const length = end - start < 4 ? 0 : bytes.readUInt32BE(start)
  if (length < headerOctets || length > end - start) return malformed(bytes, start, end, 'command-length-too-small')
  if (length < end - start) return malformed(bytes, start, end, 'command-length-too-large')
  const from = cursor(bytes, start + headerOctets, end)
  const pdu = decodeBody(
    bytes.readUInt32BE(start + 4),
    from,
    bytes.readUInt32BE(start + 8),
    bytes.readUInt32BE(start + 12),
  )
  if (from.hasTail && isEmptyDelivery(pdu)) fail(from, 'message-too-long')
  return from.problem === undefined ? pdu : malformed(bytes, start, end, from.problem)
}

/** Whether a delivery says nothing, so that octets that were ignored may be its text under a wrong sm_length. */
const isEmptyDelivery = (pdu: ReceivedPdu): boolean =>
  (pdu.command === 'data_sm' || (pdu.command === 'deliver_sm' && pdu.shortMessage.length === 0)) &&
  !pdu.tlvs.some(({ tag }) => tag === TLV_TAG.message_payload || tag === TLV_TAG.receipted_message_id)

/** Returns the sender of a delivery whose later fields may be damaged; undefined: its octets are cut before. */
export function sourceOfDelivery(bytes: Buffer): Pick<DeliverSm, 'sourceAddr' | 'sourceAddrTon'> | undefined {
  if (bytes.length < headerOctets) return undefined
  const from = cursor(bytes, headerOctets, bytes.length)
  const commandId = bytes.readUInt32BE(4)
  if (commandId !== COMMAND_ID.deliver_sm && commandId !== COMMAND_ID.data_sm) return undefined
  text(from, FIELD_SIZE.serviceType)
  const sourceAddrTon = octet(from)
  octet(from)
  const sourceAddr = text(from, FIELD_SIZE.longAddress)
  return from.problem === undefined ? { sourceAddr, sourceAddrTon } : undefined
}

const ANSWER = {
  'command-length-too-small': COMMAND_STATUS.ESME_RINVCMDLEN,
  'command-length-too-large': COMMAND_STATUS.ESME_RINVCMDLEN,
  'body-too-short': COMMAND_STATUS.ESME_RINVCMDLEN,
  'string-unterminated': COMMAND_STATUS.ESME_RINVCMDLEN,
  'string-too-long': COMMAND_STATUS.ESME_RINVPARLEN,
  'message-too-long': COMMAND_STATUS.ESME_RINVMSGLEN,
  'tlv-too-long': COMMAND_STATUS.ESME_RINVOPTPARSTREAM,
  'destination-flag': COMMAND_STATUS.ESME_RINVDESTFLAG,
} as const satisfies Record<MalformedReason, number>

/** What is told of bytes that are no PDU, which may be fewer than a header has. */
export function malformed(bytes: Buffer, start: number, end: number, reason: MalformedReason): MalformedPdu {
  const word = (at: number): number => (start + at + 4 <= end ? bytes.readUInt32BE(start + at) : 0)
  return {
    command: 'malformed',
    reason,
    commandId: word(4),
    status: word(8),
    sequence: word(12),
    answerStatus: ANSWER[reason],
    endsSession: reason === 'command-length-too-small' || reason === 'command-length-too-large',
    bytes: bytes.subarray(start, end),
  }
}

function decodeBody(commandId: number, from: Cursor, status: number, sequence: number): ReceivedPdu {
  switch (commandId) {
    case COMMAND_ID.submit_sm:
      return submitSm(from, status, sequence)
    case COMMAND_ID.submit_sm_resp:
      return messageIdResp('submit_sm_resp', from, status, sequence)
    case COMMAND_ID.deliver_sm:
      return deliverSm(from, status, sequence)
    case COMMAND_ID.deliver_sm_resp:
      return messageIdResp('deliver_sm_resp', from, status, sequence)
    case COMMAND_ID.data_sm:
      return dataSm(from, status, sequence)
    case COMMAND_ID.data_sm_resp:
      return messageIdResp('data_sm_resp', from, status, sequence)
    default:
      return decodeRare(commandId, from, status, sequence) ?? unknown(commandId, from, status, sequence)
  }
}

const unknown = (commandId: number, from: Cursor, status: number, sequence: number): ReceivedPdu => ({
  command: 'unknown',
  commandId,
  status,
  sequence,
  body: octets(from, from.end - from.at, 'body-too-short'),
})

const EMPTY = new Map<number, EmptyPdu['command']>(
  (
    [
      ...['generic_nack', 'unbind', 'unbind_resp', 'enquire_link', 'enquire_link_resp'],
      ...['cancel_sm_resp', 'replace_sm_resp'],
    ] as const
  ).map((command) => [COMMAND_ID[command], command]),
)

function decodeRare(commandId: number, from: Cursor, status: number, sequence: number): Pdu | undefined {
  const empty = EMPTY.get(commandId)
  if (empty !== undefined) return { command: empty, status, sequence, tlvs: tlvs(from) }
  return RARE.get(commandId)?.(from, status, sequence)
}

const RARE = new Map<number, (from: Cursor, status: number, sequence: number) => Pdu>([
  [COMMAND_ID.bind_receiver, bind('bind_receiver')],
  [COMMAND_ID.bind_transmitter, bind('bind_transmitter')],
  [COMMAND_ID.bind_transceiver, bind('bind_transceiver')],
  [COMMAND_ID.bind_receiver_resp, bindResp('bind_receiver_resp')],
  [COMMAND_ID.bind_transmitter_resp, bindResp('bind_transmitter_resp')],
  [COMMAND_ID.bind_transceiver_resp, bindResp('bind_transceiver_resp')],
  [COMMAND_ID.outbind, outbind],
  [COMMAND_ID.alert_notification, alertNotification],
  [COMMAND_ID.submit_multi, submitMulti],
  [COMMAND_ID.submit_multi_resp, submitMultiResp],
  [COMMAND_ID.query_sm, querySm],
  [COMMAND_ID.query_sm_resp, querySmResp],
  [COMMAND_ID.cancel_sm, cancelSm],
  [COMMAND_ID.replace_sm, replaceSm],
])
