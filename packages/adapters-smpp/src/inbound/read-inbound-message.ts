import type { CarrierId } from '@gateway/core/dispatch'
import type { InboundMessage, InboundMessagePart } from '@gateway/core/inbox'
import { readNumber } from '../numbers.ts'
import { TLV_TAG, tlvInteger, type Tlv } from '../pdu/index.ts'
import { userDataOf } from '../receipts/read-receipt.ts'
import type { Delivered } from '../session/session.ts'
import type { SmppSettings } from '../settings.ts'
import { decodeText } from '../text/decode-text.ts'

const headerIndicator = 0x40

/** Reads what a person wrote, of data that are a text. `offerOf` names the hand-over, if it has a name. */
export function readInboundMessage(
  pdu: Delivered,
  carrier: CarrierId,
  settings: SmppSettings,
  offerOf: (content: string) => string | undefined,
): InboundMessage {
  const {
    octets,
    headerOctets,
    part: headerPart,
  } = readUserData(userDataOf(pdu), (pdu.esmClass & headerIndicator) !== 0)
  const text = decodeText(pdu.dataCoding, octets, settings.alphabet, headerOctets) ?? ''
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

interface UserData {
  /** Without the header. */
  readonly octets: Buffer
  readonly headerOctets: number
  readonly part: InboundMessagePart | undefined
}

/**
 * A header that is longer than the data is none; elements that are cut off or not known are passed over (3GPP TS
 * 23.040, 9.2.3.24).
 */
export function readUserData(data: Buffer, hasHeader: boolean): UserData {
  const headerOctets = hasHeader ? (data[0] ?? 0) + 1 : 0
  if (headerOctets === 0 || headerOctets > data.length) return { octets: data, headerOctets: 0, part: undefined }
  return { octets: data.subarray(headerOctets), headerOctets, part: partOf(data.subarray(1, headerOctets)) }
}

function partOf(elements: Buffer): InboundMessagePart | undefined {
  for (let at = 0; at + 2 <= elements.length; at += 2 + (elements[at + 1] ?? 0)) {
    const [id, length] = [elements[at], elements[at + 1] ?? 0]
    const value = elements.subarray(at + 2, at + 2 + length)
    if (id === 0 && value.length === 3) return partFrom(value.readUInt8(0), value.subarray(1))
    if (id === 8 && value.length === 4) return partFrom(value.readUInt16BE(0), value.subarray(2))
  }
  return undefined
}

function partFrom(group: number, [of = 0, number = 0]: Buffer): InboundMessagePart | undefined {
  return of < 2 || number < 1 || number > of ? undefined : { group, number, of }
}
