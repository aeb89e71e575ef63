import { MESSAGE_STATE, TLV_TAG, integerTlv, noTlvs, textTlv, type DeliverSm, type Tlv } from '@gateway/smpp'
import { formatId, idNumberOf, type StoredMessage } from './message-store.ts'
import type { ReceiptState } from './outcomes.ts'
import type { Personality } from './personalities.ts'

type ReportedState = ReceiptState | 'UNKNOWN'

/** message_state of each state, and the value of the err field in the text of a receipt. */
const STATES = {
  DELIVRD: [MESSAGE_STATE.DELIVERED, '000'],
  EXPIRED: [MESSAGE_STATE.EXPIRED, '027'],
  DELETED: [MESSAGE_STATE.DELETED, '000'],
  UNDELIV: [MESSAGE_STATE.UNDELIVERABLE, '001'],
  REJECTD: [MESSAGE_STATE.REJECTED, '011'],
  UNKNOWN: [MESSAGE_STATE.UNKNOWN, '000'],
} as const satisfies Record<ReportedState, readonly [number, string]>

const stateTlv = (state: ReportedState): Tlv => integerTlv(TLV_TAG.message_state, 1, STATES[state][0])
const stateTlvs: Readonly<Record<ReportedState, Tlv>> = {
  DELIVRD: stateTlv('DELIVRD'),
  EXPIRED: stateTlv('EXPIRED'),
  DELETED: stateTlv('DELETED'),
  UNDELIV: stateTlv('UNDELIV'),
  REJECTD: stateTlv('REJECTD'),
  UNKNOWN: stateTlv('UNKNOWN'),
}

export const messageStateOf = (state: ReceiptState): number => STATES[state][0]

/** deliver_sm with content. Its sequence number is assigned when it is sent. */
export type Delivery = DeliverSm & { sequence: number }

export const emptyDelivery: Delivery = {
  ...{ command: 'deliver_sm', status: 0, sequence: 0 },
  ...{ serviceType: '', sourceAddrTon: 1, sourceAddrNpi: 1, sourceAddr: '', destAddrTon: 1, destAddrNpi: 1 },
  ...{ destinationAddr: '', esmClass: 0, protocolId: 0, priorityFlag: 0, scheduleDeliveryTime: '' },
  ...{ validityPeriod: '', registeredDelivery: 0, replaceIfPresentFlag: 0, dataCoding: 0, smDefaultMsgId: 0 },
  ...{ shortMessage: Buffer.alloc(0), tlvs: [] },
}

/** Builds a delivery receipt (esm_class 4; SMPP 3.4, 5.2.12 and appendix B). */
export function receipt(message: StoredMessage, known: ReceiptState, now: number, form: Personality): Delivery {
  const state = form.receiptsUnknown ? 'UNKNOWN' : known
  const id = formatId(idNumberOf(message), form.receiptIdForm)
  const [, error] = STATES[state]
  const text =
    `id:${id} sub:001 dlvrd:${state === 'DELIVRD' ? '001' : '000'} submit date:${dateOf(message.at)} ` +
    `done date:${dateOf(now)} stat:${state} err:${error} text:`
  return {
    command: 'deliver_sm',
    status: 0,
    sequence: 0,
    serviceType: '',
    sourceAddrTon: message.toTon,
    sourceAddrNpi: message.toNpi,
    sourceAddr: message.to,
    destAddrTon: message.fromTon,
    destAddrNpi: message.fromNpi,
    destinationAddr: message.from,
    esmClass: 4,
    protocolId: 0,
    priorityFlag: 0,
    scheduleDeliveryTime: '',
    validityPeriod: '',
    registeredDelivery: 0,
    replaceIfPresentFlag: 0,
    dataCoding: 0,
    smDefaultMsgId: 0,
    shortMessage: form.receiptForm === 'tlv' ? emptyDelivery.shortMessage : Buffer.from(text, 'latin1'),
    tlvs: form.receiptForm === 'text' ? noTlvs : [textTlv(TLV_TAG.receipted_message_id, id), stateTlvs[state]],
  }
}

const minuteMilliseconds = 60_000
let written = { minute: NaN, date: '' }

/** Formats a time as YYMMDDhhmm in UTC. The last result is cached, because most receipts are of the same minute. */
function dateOf(at: number): string {
  const minute = Math.floor(at / minuteMilliseconds)
  if (minute !== written.minute) {
    written = { minute, date: new Date(at).toISOString().replaceAll(/[-T:]/g, '').slice(2, 12) }
  }
  return written.date
}
