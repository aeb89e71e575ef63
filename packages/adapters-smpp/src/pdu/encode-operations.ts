import { putDestination, putMessage, putSource } from './encode-messages.ts'
import { FIELD_SIZE } from './field-sizes.ts'
import type {
  CancelSm,
  MultiDestination,
  QuerySm,
  QuerySmResp,
  ReplaceSm,
  SubmitMulti,
  SubmitMultiResp,
} from './pdu.ts'
import { putInteger, putOctet, putText, type Sink } from './sink.ts'

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
