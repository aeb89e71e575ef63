import { fail, integer, octet, text, tlvs, type Cursor } from './cursor.ts'
import { shortMessage } from './decode-messages.ts'
import { FIELD_SIZE } from './field-sizes.ts'
import type {
  CancelSm,
  MultiDestination,
  QuerySm,
  QuerySmResp,
  ReplaceSm,
  SubmitMulti,
  SubmitMultiResp,
  UnsuccessSme,
} from './pdu.ts'

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
