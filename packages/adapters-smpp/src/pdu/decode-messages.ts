import { lastText, octet, octets, text, tlvs, type Cursor } from './cursor.ts'
import { FIELD_SIZE } from './field-sizes.ts'
import type { DataSm, DataSmResp, DeliverSm, DeliverSmResp, SubmitSm, SubmitSmResp } from './pdu.ts'

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

/** SMPP 3.4, 4.4.2, 4.6.2 and 4.7.2; there may be no body. An id without its NUL is read: else its message would have none. */
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
