import { FIELD_SIZE, COMMAND_ID, COMMAND_STATUS, headerOctets, TLV_TAG } from './constants.ts'
import { lastText, octet, octets, text, tlvs, fail, cursor, type Cursor } from './cursor.ts'
import { decodeByLayout } from './layouts.ts'
import type {
  DataSm,
  DataSmResp,
  DeliverSm,
  DeliverSmResp,
  MalformedPdu,
  MalformedReason,
  ReceivedPdu,
  SubmitSm,
  SubmitSmResp,
} from './pdu.ts'

/** Reads sm_length and short_message. */
const shortMessage = (from: Cursor): Buffer => octets(from, octet(from), 'message-too-long')

/** Decodes the body of submit_sm (SMPP 3.4, 4.4.1). */
const submitSm = (from: Cursor, status: number, sequence: number): SubmitSm => ({
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

/**
 * Decodes the body of deliver_sm (SMPP 3.4, 4.6.1). A function separate from `submitSm` gives the result its own hidden
 * class in V8.
 */
const deliverSm = (from: Cursor, status: number, sequence: number): DeliverSm => ({
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

/** Decodes the body of data_sm (SMPP 3.4, 4.7.1). */
const dataSm = (from: Cursor, status: number, sequence: number): DataSm => ({
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
 * Decodes a response with a message id (SMPP 3.4, 4.4.2, 4.6.2 and 4.7.2). The body may be missing. Accepts a message
 * id without its NUL, because the submitted message would otherwise have no carrier id.
 */
const messageIdResp = (
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

/**
 * Decodes the PDU between `start` and `end`, which must match its command_length. Never throws and never reads outside
 * that range. Buffers in the result are views of `bytes`.
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

/** Returns true for a delivery without a text. Ignored octets at its end may be the text, if its sm_length is wrong. */
const isEmptyDelivery = (pdu: ReceivedPdu): boolean =>
  (pdu.command === 'data_sm' || (pdu.command === 'deliver_sm' && pdu.shortMessage.length === 0)) &&
  !pdu.tlvs.some(({ tag }) => tag === TLV_TAG.message_payload || tag === TLV_TAG.receipted_message_id)

/** Returns the sender of a delivery whose later fields may be damaged, or undefined if it ends before the sender. */
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

/** Returns the description of bytes that are not a PDU. They may be shorter than a header. */
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
      return decodeByLayout(commandId, from, status, sequence) ?? unknown(commandId, from, status, sequence)
  }
}

const unknown = (commandId: number, from: Cursor, status: number, sequence: number): ReceivedPdu => ({
  command: 'unknown',
  commandId,
  status,
  sequence,
  body: octets(from, from.end - from.at, 'body-too-short'),
})
