import type { CarrierId, InboundMessage, InboundMessagePart } from '@gateway/core'
import { readNumber } from '../numbers.ts'
import { TLV_TAG, tlvInteger, type Tlv } from '../pdu/index.ts'
import { userDataOf } from '../receipts/read-receipt.ts'
import type { Delivered } from '../session/session.ts'
import type { SmppSettings } from '../settings.ts'
import { decodeText } from '../text/decode-text.ts'
import { readUserData } from './user-data-header.ts'

const headerIndicator = 0x40

/** What a person wrote. 'binary': it is no text. `offer` names the hand-over. */
export function readInboundMessage(
  pdu: Delivered,
  carrier: CarrierId,
  settings: SmppSettings,
  offerOf: (content: string) => string,
): InboundMessage | 'binary' {
  const {
    octets,
    headerOctets,
    part: headerPart,
  } = readUserData(userDataOf(pdu), (pdu.esmClass & headerIndicator) !== 0)
  const text = decodeText(pdu.dataCoding, octets, settings.alphabet, headerOctets)
  if (text === undefined) return 'binary'
  const part = headerPart ?? sarPart(pdu.tlvs)
  const from = readNumber(pdu.sourceAddr, pdu.sourceAddrTon, settings)
  const to = readNumber(pdu.destinationAddr, pdu.destAddrTon, settings)
  const offer = offerOf(JSON.stringify([from, to, text, part]))
  const message = { carrier, from, to: to === '' ? undefined : to, text, part, offer }
  return { ...message, sent: undefined, reference: undefined }
}

function sarPart(tlvs: readonly Tlv[]): InboundMessagePart | undefined {
  const group = tlvInteger(tlvs, TLV_TAG.sar_msg_ref_num)
  const number = tlvInteger(tlvs, TLV_TAG.sar_segment_seqnum)
  const of = tlvInteger(tlvs, TLV_TAG.sar_total_segments)
  return group === undefined || number === undefined || of === undefined || of < 2 ? undefined : { group, number, of }
}
