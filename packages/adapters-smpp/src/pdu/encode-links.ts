import { putSource } from './encode-messages.ts'
import { FIELD_SIZE } from './field-sizes.ts'
import type { AlertNotification, Bind, BindResp, Outbind } from './pdu.ts'
import { putOctet, putText, type Sink } from './sink.ts'

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
