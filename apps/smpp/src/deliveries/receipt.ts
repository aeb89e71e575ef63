import { OUTCOME, type OutcomeCode } from '@gateway/core/messages'
import type { SmppReceipt } from '@gateway/core/smpp-customers'
import { integerTlv, MESSAGE_STATE, noTlvs, textTlv, TLV_TAG, type DeliverSm } from '@gateway/smpp'
import { messageState } from '../submissions/message-state.ts'
import { receiptTime } from '../submissions/read-times.ts'
import { emptyDelivery } from './empty-delivery.ts'

/** Words of receipts by message_state (SMPP 3.4, appendix B). */
const STATE_WORDS: Readonly<Record<number, string>> = {
  [MESSAGE_STATE.ENROUTE]: 'ENROUTE',
  [MESSAGE_STATE.DELIVERED]: 'DELIVRD',
  [MESSAGE_STATE.EXPIRED]: 'EXPIRED',
  [MESSAGE_STATE.DELETED]: 'DELETED',
  [MESSAGE_STATE.UNDELIVERABLE]: 'UNDELIV',
  [MESSAGE_STATE.ACCEPTED]: 'ACCEPTD',
  [MESSAGE_STATE.UNKNOWN]: 'UNKNOWN',
  [MESSAGE_STATE.REJECTED]: 'REJECTD',
}

/** esm_class of a receipt and of an intermediate notification (SMPP 3.4, 5.2.12). */
const esmClasses = { receipt: 0x04, notification: 0x20 } as const

/** First interface_version with optional parameters. */
const tlvsSince = 0x34

/**
 * Builds the deliver_sm of a receipt. Source and destination are those of the submission, exchanged, with the types
 * that the customer used. `offsetMinutes` is the offset of its dates from UTC.
 */
export function receiptPdu(receipt: SmppReceipt, version: number, offsetMinutes: number): DeliverSm {
  const { kind, message, number, from, smpp } = receipt
  const { source = { address: from ?? '', ton: 0, npi: 0 }, destination = { ton: 1, npi: 1 } } = smpp
  const state = messageState(receipt.code, receipt.isAccepted)
  return {
    ...emptyDelivery,
    ...{ sourceAddr: number, sourceAddrTon: destination.ton, sourceAddrNpi: destination.npi },
    ...{ destinationAddr: source.address, destAddrTon: source.ton, destAddrNpi: source.npi },
    esmClass: esmClasses[kind],
    shortMessage: Buffer.from(receiptText(receipt, state, offsetMinutes), 'latin1'),
    tlvs:
      version < tlvsSince
        ? noTlvs
        : [textTlv(TLV_TAG.receipted_message_id, String(message)), integerTlv(TLV_TAG.message_state, 1, state)],
  }
}

/** Formats a receipt exactly as clients parse it: Kannel with sscanf, jsmpp by positions, Jasmin with patterns. */
function receiptText({ message, code, submitted, at }: SmppReceipt, state: number, offsetMinutes: number): string {
  const delivered = code === OUTCOME.delivered ? '001' : '000'
  const dates = `submit date:${receiptTime(submitted, offsetMinutes)} done date:${receiptTime(at, offsetMinutes)}`
  const word = STATE_WORDS[state] ?? 'UNKNOWN'
  return `id:${message} sub:001 dlvrd:${delivered} ${dates} stat:${word} err:${errorOf(code)} text:`
}

/** Returns the status code of a failure in three digits, and 000 for any other outcome. */
const errorOf = (code: OutcomeCode): string =>
  NO_ERRORS.includes(code) ? '000' : String(code).padStart(3, '0').slice(0, 3)

const NO_ERRORS: readonly OutcomeCode[] = [OUTCOME.delivered, OUTCOME.sent, OUTCOME.underWay, OUTCOME.unknown]
