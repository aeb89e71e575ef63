import { FIELD_SIZE } from './field-sizes.ts'
import type { DataSm, DeliverSm, MultiDestination, SubmitSm } from './pdu.ts'
import { putOctet, putOctets, putText, type Sink } from './sink.ts'

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
