import { encodeAlertNotification, encodeBind, encodeBindResp, encodeOutbind } from './encode-links.ts'
import { encodeDataSm, encodeDeliverSm, encodeSubmitSm } from './encode-messages.ts'
import {
  encodeCancelSm,
  encodeQuerySm,
  encodeQuerySmResp,
  encodeReplaceSm,
  encodeSubmitMulti,
  encodeSubmitMultiResp,
} from './encode-operations.ts'
import type { DataSmResp, Pdu, SubmitSmResp } from './pdu.ts'
import { putText, type Sink } from './sink.ts'

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
