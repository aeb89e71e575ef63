import type { CarrierId } from '@gateway/core/dispatch'
import type { InboundMessage, InboundMessagePart } from '@gateway/core/inbox'
import { readNumber } from '../numbers.ts'
import { TLV_TAG, tlvInteger, type Tlv } from '@gateway/smpp'
import { userDataOf } from '../receipts/read-receipt.ts'
import type { Delivered } from '../session/session.ts'
import type { SmppSettings } from '../settings.ts'
import { codedText, decodeText, noHeader, type UserDataHeader } from '../text/decode-text.ts'

const headerIndicator = 0x40

/**
 * Reads an inbound text message. `offerOf` returns the name of the carrier's offer of this content, if there is one.
 */
export function readInboundMessage(
  pdu: Delivered,
  carrier: CarrierId,
  settings: SmppSettings,
  offerOf: (content: string) => string | undefined,
): InboundMessage {
  const { octets, header, part: headerPart } = readUserData(userDataOf(pdu), (pdu.esmClass & headerIndicator) !== 0)
  const coded = codedText(pdu.dataCoding, octets, settings.alphabet, header)
  const text = decodeText(pdu.dataCoding, octets, settings.alphabet, header) ?? ''
  const part = headerPart ?? sarPart(pdu.tlvs)
  const from = readNumber(pdu.sourceAddr, pdu.sourceAddrTon, settings)
  const to = readNumber(pdu.destinationAddr, pdu.destAddrTon, settings)
  const offer = offerOf(JSON.stringify([from, to, text, part]))
  const message = { carrier, from, to: to === '' ? undefined : to, text, part: part && { ...part, coded }, offer }
  return { ...message, sent: undefined, reference: undefined }
}

function sarPart(tlvs: readonly Tlv[]): InboundMessagePart | undefined {
  const group = tlvInteger(tlvs, TLV_TAG.sar_msg_ref_num)
  const number = tlvInteger(tlvs, TLV_TAG.sar_segment_seqnum)
  const of = tlvInteger(tlvs, TLV_TAG.sar_total_segments)
  return group === undefined || number === undefined || of === undefined || of < 2 ? undefined : { group, number, of }
}

interface UserData {
  /** User data without the header. */
  readonly octets: Buffer
  readonly header: UserDataHeader
  readonly part: InboundMessagePart | undefined
}

/**
 * Separates a user data header from the text (3GPP TS 23.040, 9.2.3.24). A header that claims to be longer than the
 * data is treated as text; truncated and unknown information elements are ignored.
 */
export function readUserData(data: Buffer, hasHeader: boolean): UserData {
  const headerOctets = hasHeader ? (data[0] ?? 0) + 1 : 0
  if (headerOctets === 0 || headerOctets > data.length) return { octets: data, header: noHeader, part: undefined }
  const elements = elementsOf(data.subarray(1, headerOctets))
  const header = {
    octets: headerOctets,
    single: elements.get(elementIds.singleShift)?.[0],
    locking: elements.get(elementIds.lockingShift)?.[0],
  }
  return { octets: data.subarray(headerOctets), header, part: partOf(elements) }
}

/** Information element identifiers (3GPP TS 23.040, 9.2.3.24). */
const elementIds = { part: 0x00, part16: 0x08, singleShift: 0x24, lockingShift: 0x25 } as const

/** Returns the complete elements by identifier; if an identifier is repeated, the last element counts (9.2.3.24). */
function elementsOf(octets: Buffer): ReadonlyMap<number, Buffer> {
  const elements = new Map<number, Buffer>()
  for (let at = 0; at + 2 <= octets.length; at += 2 + (octets[at + 1] ?? 0)) {
    const end = at + 2 + (octets[at + 1] ?? 0)
    if (end <= octets.length) elements.set(octets[at] ?? 0, octets.subarray(at + 2, end))
  }
  return elements
}

function partOf(elements: ReadonlyMap<number, Buffer>): InboundMessagePart | undefined {
  const [short, long] = [elements.get(elementIds.part), elements.get(elementIds.part16)]
  if (short?.length === 3) return partFrom(short.readUInt8(0), short.subarray(1))
  return long?.length === 4 ? partFrom(long.readUInt16BE(0), long.subarray(2)) : undefined
}

function partFrom(group: number, [of = 0, number = 0]: Buffer): InboundMessagePart | undefined {
  return of < 2 || number < 1 || number > of ? undefined : { group, number, of }
}
