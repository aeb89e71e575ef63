import { FIELD_SIZE } from './constants.ts'
import type {
  Tlv,
  DataSm,
  DeliverSm,
  MultiDestination,
  SubmitSm,
  AlertNotification,
  Bind,
  BindResp,
  Outbind,
  CancelSm,
  QuerySm,
  QuerySmResp,
  ReplaceSm,
  SubmitMulti,
  SubmitMultiResp,
  DataSmResp,
  Pdu,
  SubmitSmResp,
} from './pdu.ts'

/** A buffer that grows, and the place behind what was written. What is reserved fits. */
export interface Sink {
  buffer: Buffer
  at: number
}

export function putOctet(to: Sink, value: number): void {
  if ((value & 0xff) !== value) throw new RangeError(`${value} is no octet`)
  to.buffer[to.at++] = value
}

/** Throws a RangeError beyond 32 bits. */
export function putInteger(to: Sink, value: number): void {
  if (value >>> 0 !== value) throw new RangeError(`${value} is no integer of four octets`)
  const { buffer, at } = to
  buffer[at] = value >>> 24
  buffer[at + 1] = value >>> 16
  buffer[at + 2] = value >>> 8
  buffer[at + 3] = value
  to.at = at + 4
}

/**
 * A C-octet string of at most `sizeMax` octets with its NUL. Throws a RangeError if it is longer or is not Latin-1
 * without NUL.
 */
export function putText(to: Sink, text: string, sizeMax: number): void {
  const { buffer } = to
  const { length } = text
  if (length >= sizeMax) throw new RangeError(`a text of ${length} octets has no place in ${sizeMax} with its NUL`)
  let at = to.at
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0 || code > 0xff) throw new RangeError('a text of SMPP is Latin-1 without NUL')
    buffer[at++] = code
  }
  buffer[at++] = 0
  to.at = at
}

export function putOctets(to: Sink, value: Buffer): void {
  const { length } = value
  // A native copy costs as much as 60 assignments.
  if (length > 60) value.copy(to.buffer, to.at)
  else for (let index = 0, { buffer, at } = to; index < length; index++) buffer[at + index] = value[index] ?? 0
  to.at += length
}

export function putTlvs(to: Sink, tlvs: readonly Tlv[]): void {
  for (const { tag, value } of tlvs) {
    putDouble(to, tag)
    putDouble(to, value.length)
    putOctets(to, value)
  }
}

function putDouble(to: Sink, value: number): void {
  if ((value & 0xffff) !== value) throw new RangeError(`${value} is no integer of two octets`)
  to.buffer[to.at++] = value >>> 8
  to.buffer[to.at++] = value & 0xff
}

/** The octets of all TLVs. */
export function tlvOctets(tlvs: readonly Tlv[]): number {
  let octets = 0
  for (const { value } of tlvs) octets += 4 + value.length
  return octets
}

type Source = Pick<SubmitSm, 'sourceAddrTon' | 'sourceAddrNpi' | 'sourceAddr'>
type Destination = Exclude<MultiDestination, { distributionList: string }>

export function putSource(to: Sink, pdu: Source, sizeMax: number): void {
  putOctet(to, pdu.sourceAddrTon)
  putOctet(to, pdu.sourceAddrNpi)
  putText(to, pdu.sourceAddr, sizeMax)
}

export function putDestination(to: Sink, pdu: Destination, sizeMax: number): void {
  putOctet(to, pdu.destAddrTon)
  putOctet(to, pdu.destAddrNpi)
  putText(to, pdu.destinationAddr, sizeMax)
}

export function putMessage(to: Sink, message: Buffer): void {
  putOctet(to, message.length)
  putOctets(to, message)
}

// Two functions of the same text see one hidden class each: so the properties are read at fixed places.
export function encodeSubmitSm(to: Sink, pdu: SubmitSm): void {
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

export function encodeDeliverSm(to: Sink, pdu: DeliverSm): void {
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

export function encodeDataSm(to: Sink, pdu: DataSm): void {
  putText(to, pdu.serviceType, FIELD_SIZE.serviceType)
  putSource(to, pdu, FIELD_SIZE.longAddress)
  putDestination(to, pdu, FIELD_SIZE.longAddress)
  putOctet(to, pdu.esmClass)
  putOctet(to, pdu.registeredDelivery)
  putOctet(to, pdu.dataCoding)
}

export function encodeBind(to: Sink, pdu: Bind): void {
  putText(to, pdu.systemId, FIELD_SIZE.systemId)
  putText(to, pdu.password, FIELD_SIZE.password)
  putText(to, pdu.systemType, FIELD_SIZE.systemType)
  putOctet(to, pdu.interfaceVersion)
  putOctet(to, pdu.addrTon)
  putOctet(to, pdu.addrNpi)
  putText(to, pdu.addressRange, FIELD_SIZE.addressRange)
}

/** Without a body when the bind is refused (SMPP 3.4, 4.1.2). */
export function encodeBindResp(to: Sink, { status, systemId, tlvs }: BindResp): void {
  if (status === 0 || systemId !== '' || tlvs.length > 0) putText(to, systemId, FIELD_SIZE.systemId)
}

export function encodeOutbind(to: Sink, pdu: Outbind): void {
  putText(to, pdu.systemId, FIELD_SIZE.systemId)
  putText(to, pdu.password, FIELD_SIZE.password)
}

export function encodeAlertNotification(to: Sink, pdu: AlertNotification): void {
  putSource(to, pdu, FIELD_SIZE.longAddress)
  putOctet(to, pdu.esmeAddrTon)
  putOctet(to, pdu.esmeAddrNpi)
  putText(to, pdu.esmeAddr, FIELD_SIZE.longAddress)
}

export function encodeSubmitMulti(to: Sink, pdu: SubmitMulti): void {
  putText(to, pdu.serviceType, FIELD_SIZE.serviceType)
  putSource(to, pdu, FIELD_SIZE.address)
  putOctet(to, pdu.destinations.length)
  for (const each of pdu.destinations) putMultiDestination(to, each)
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

function putMultiDestination(to: Sink, destination: MultiDestination): void {
  if ('distributionList' in destination) {
    putOctet(to, 2)
    putText(to, destination.distributionList, FIELD_SIZE.distributionList)
  } else {
    putOctet(to, 1)
    putDestination(to, destination, FIELD_SIZE.address)
  }
}

export function encodeSubmitMultiResp(to: Sink, pdu: SubmitMultiResp): void {
  const { status, messageId, unsuccessSmes, tlvs } = pdu
  if (status !== 0 && messageId === '' && unsuccessSmes.length === 0 && tlvs.length === 0) return
  putText(to, messageId, Infinity)
  putOctet(to, unsuccessSmes.length)
  for (const each of unsuccessSmes) {
    putDestination(to, each, FIELD_SIZE.address)
    putInteger(to, each.errorStatusCode)
  }
}

export function encodeQuerySm(to: Sink, pdu: QuerySm): void {
  putText(to, pdu.messageId, Infinity)
  putSource(to, pdu, FIELD_SIZE.address)
}

export function encodeQuerySmResp(to: Sink, pdu: QuerySmResp): void {
  const { status, messageId, finalDate, messageState, errorCode, tlvs } = pdu
  const isEmpty = messageId === '' && finalDate === '' && messageState === 0 && errorCode === 0 && tlvs.length === 0
  if (status !== 0 && isEmpty) return
  putText(to, messageId, Infinity)
  putText(to, finalDate, FIELD_SIZE.time)
  putOctet(to, messageState)
  putOctet(to, errorCode)
}

export function encodeCancelSm(to: Sink, pdu: CancelSm): void {
  putText(to, pdu.serviceType, FIELD_SIZE.serviceType)
  putText(to, pdu.messageId, Infinity)
  putSource(to, pdu, FIELD_SIZE.address)
  putDestination(to, pdu, FIELD_SIZE.address)
}

export function encodeReplaceSm(to: Sink, pdu: ReplaceSm): void {
  putText(to, pdu.messageId, Infinity)
  putSource(to, pdu, FIELD_SIZE.address)
  putText(to, pdu.scheduleDeliveryTime, FIELD_SIZE.time)
  putText(to, pdu.validityPeriod, FIELD_SIZE.time)
  putOctet(to, pdu.registeredDelivery)
  putOctet(to, pdu.smDefaultMsgId)
  putMessage(to, pdu.shortMessage)
}

/** Writes the mandatory parameters, for which `bodyOctetsMax` octets are reserved. */
export function encodeBody(to: Sink, pdu: Pdu): void {
  switch (pdu.command) {
    case 'submit_sm':
      encodeSubmitSm(to, pdu)
      break
    case 'submit_sm_resp':
    case 'data_sm_resp':
      encodeMessageIdResp(to, pdu)
      break
    case 'deliver_sm':
      encodeDeliverSm(to, pdu)
      break
    case 'deliver_sm_resp':
      putText(to, pdu.messageId, Infinity)
      break
    case 'data_sm':
      encodeDataSm(to, pdu)
      break
    case 'bind_receiver':
    case 'bind_transmitter':
    case 'bind_transceiver':
      encodeBind(to, pdu)
      break
    case 'bind_receiver_resp':
    case 'bind_transmitter_resp':
    case 'bind_transceiver_resp':
      encodeBindResp(to, pdu)
      break
    case 'outbind':
      encodeOutbind(to, pdu)
      break
    case 'submit_multi':
      encodeSubmitMulti(to, pdu)
      break
    case 'submit_multi_resp':
      encodeSubmitMultiResp(to, pdu)
      break
    case 'query_sm':
      encodeQuerySm(to, pdu)
      break
    case 'query_sm_resp':
      encodeQuerySmResp(to, pdu)
      break
    case 'cancel_sm':
      encodeCancelSm(to, pdu)
      break
    case 'replace_sm':
      encodeReplaceSm(to, pdu)
      break
    case 'alert_notification':
      encodeAlertNotification(to, pdu)
      break
    case 'generic_nack':
    case 'unbind':
    case 'unbind_resp':
    case 'enquire_link':
    case 'enquire_link_resp':
    case 'cancel_sm_resp':
    case 'replace_sm_resp':
      break
  }
}

/** Without a body when the message is refused (SMPP 3.4, 4.4.2). */
function encodeMessageIdResp(to: Sink, { status, messageId, tlvs }: SubmitSmResp | DataSmResp): void {
  if (status === 0 || messageId !== '' || tlvs.length > 0) putText(to, messageId, Infinity)
}

/** An upper bound of the octets of the mandatory parameters. */
export function bodyOctetsMax(pdu: Pdu): number {
  // Every text but a message_id is checked against its size; so many octets hold all of any PDU with one short_message.
  const rest = 512
  if (pdu.command === 'submit_multi') return rest + 24 * pdu.destinations.length
  if (pdu.command === 'submit_multi_resp') return rest + pdu.messageId.length + 28 * pdu.unsuccessSmes.length
  return 'messageId' in pdu ? rest + pdu.messageId.length : rest
}
