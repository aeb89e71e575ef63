import { FIELD_SIZE } from './constants.ts'
import { encodeByLayout } from './layouts.ts'
import type { DataSm, DataSmResp, DeliverSm, Pdu, SubmitSm, SubmitSmResp } from './pdu.ts'
import { putMessage, putOctet, putText, type Sink } from './sink.ts'

// The code for submit_sm and deliver_sm is duplicated, because each copy then sees objects of one hidden class only and
// V8 reads their properties at fixed offsets.
function encodeSubmitSm(to: Sink, pdu: SubmitSm): void {
  putText(to, pdu.serviceType, FIELD_SIZE.serviceType)
  putOctet(to, pdu.sourceAddrTon)
  putOctet(to, pdu.sourceAddrNpi)
  putText(to, pdu.sourceAddr, FIELD_SIZE.address)
  putOctet(to, pdu.destAddrTon)
  putOctet(to, pdu.destAddrNpi)
  putText(to, pdu.destinationAddr, FIELD_SIZE.address)
  putOctet(to, pdu.esmClass)
  putOctet(to, pdu.protocolId)
  putOctet(to, pdu.priorityFlag)
  putText(to, pdu.scheduleDeliveryTime, FIELD_SIZE.time)
  putText(to, pdu.validityPeriod, FIELD_SIZE.time)
  putOctet(to, pdu.registeredDelivery)
  putOctet(to, pdu.replaceIfPresentFlag)
  putOctet(to, pdu.dataCoding)
  putOctet(to, pdu.smDefaultMsgId)
  putMessage(to, pdu.shortMessage)
}

function encodeDeliverSm(to: Sink, pdu: DeliverSm): void {
  putText(to, pdu.serviceType, FIELD_SIZE.serviceType)
  putOctet(to, pdu.sourceAddrTon)
  putOctet(to, pdu.sourceAddrNpi)
  putText(to, pdu.sourceAddr, FIELD_SIZE.address)
  putOctet(to, pdu.destAddrTon)
  putOctet(to, pdu.destAddrNpi)
  putText(to, pdu.destinationAddr, FIELD_SIZE.address)
  putOctet(to, pdu.esmClass)
  putOctet(to, pdu.protocolId)
  putOctet(to, pdu.priorityFlag)
  putText(to, pdu.scheduleDeliveryTime, FIELD_SIZE.time)
  putText(to, pdu.validityPeriod, FIELD_SIZE.time)
  putOctet(to, pdu.registeredDelivery)
  putOctet(to, pdu.replaceIfPresentFlag)
  putOctet(to, pdu.dataCoding)
  putOctet(to, pdu.smDefaultMsgId)
  putMessage(to, pdu.shortMessage)
}

function encodeDataSm(to: Sink, pdu: DataSm): void {
  putText(to, pdu.serviceType, FIELD_SIZE.serviceType)
  putOctet(to, pdu.sourceAddrTon)
  putOctet(to, pdu.sourceAddrNpi)
  putText(to, pdu.sourceAddr, FIELD_SIZE.longAddress)
  putOctet(to, pdu.destAddrTon)
  putOctet(to, pdu.destAddrNpi)
  putText(to, pdu.destinationAddr, FIELD_SIZE.longAddress)
  putOctet(to, pdu.esmClass)
  putOctet(to, pdu.registeredDelivery)
  putOctet(to, pdu.dataCoding)
}

/** Writes the mandatory parameters. The caller has reserved `bodyOctetsMax` octets. */
export function encodeBody(to: Sink, pdu: Pdu): void {
  if (pdu.command === 'submit_sm') encodeSubmitSm(to, pdu)
  else if (pdu.command === 'submit_sm_resp' || pdu.command === 'data_sm_resp') encodeMessageIdResp(to, pdu)
  else if (pdu.command === 'deliver_sm') encodeDeliverSm(to, pdu)
  else if (pdu.command === 'deliver_sm_resp') putText(to, pdu.messageId, Infinity)
  else if (pdu.command === 'data_sm') encodeDataSm(to, pdu)
  else encodeByLayout(to, pdu)
}

/** Writes the message id, or no body if the message was refused (SMPP 3.4, 4.4.2). */
function encodeMessageIdResp(to: Sink, { status, messageId, tlvs }: SubmitSmResp | DataSmResp): void {
  if (status === 0 || messageId !== '' || tlvs.length > 0) putText(to, messageId, Infinity)
}

/** Returns an upper bound of the octets of the mandatory parameters. */
export function bodyOctetsMax(pdu: Pdu): number {
  // 512 octets suffice for every PDU with one short_message, because every text except message_id has a maximum size.
  const rest = 512
  if (pdu.command === 'submit_multi') return rest + 24 * pdu.destinations.length
  if (pdu.command === 'submit_multi_resp') return rest + pdu.messageId.length + 28 * pdu.unsuccessSmes.length
  return 'messageId' in pdu ? rest + pdu.messageId.length : rest
}
