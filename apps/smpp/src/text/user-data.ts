import { TLV_TAG, tlvInteger, tlvValue, type Tlv } from '@gateway/smpp'

/** Place of one part in a text of several parts. */
export interface PartPlace {
  /** Reference that all parts of a text share: 0 to 255, or 0 to 65535 with `is16Bit`. */
  readonly reference: number
  readonly is16Bit: boolean
  /** Number of the part, from 1 to `of`. */
  readonly number: number
  /** Number of parts, from 2 to 255. */
  readonly of: number
}

/** The octets of a text without its header. `part` is undefined for a text of one part. */
export interface UserData {
  readonly octets: Buffer
  readonly part: PartPlace | undefined
}

/**
 * Reason why user data cannot be read. `two-texts`: both short_message and message_payload are present.
 * `header-not-offered`: a header element other than concatenation (ruling 5.4).
 */
export type UserDataProblem = 'two-texts' | 'header-malformed' | 'header-not-offered' | 'sar-malformed'

const headerIndicator = 0x40

/** Fields of submit_sm, submit_multi and data_sm that contain the text. data_sm has no short_message. */
export interface TextPdu {
  readonly esmClass: number
  readonly shortMessage?: Buffer
  readonly tlvs: readonly Tlv[]
}

/** Reads the octets of a text and its place among the parts, from a user data header or the sar TLVs. */
export function readUserData({ esmClass, shortMessage, tlvs }: TextPdu): UserData | UserDataProblem {
  const payload = tlvValue(tlvs, TLV_TAG.message_payload)
  const hasShortMessage = shortMessage !== undefined && shortMessage.length > 0
  if (hasShortMessage && payload !== undefined && payload.length > 0) return 'two-texts'
  const data = hasShortMessage ? shortMessage : (payload ?? Buffer.alloc(0))
  if ((esmClass & headerIndicator) !== 0) return readHeader(data)
  const part = readSar(tlvs)
  return part === 'sar-malformed' ? part : { octets: data, part }
}

/** Information elements of concatenation with a reference of 8 and of 16 bits (3GPP TS 23.040, 9.2.3.24). */
const concatenation8 = 0x00
const concatenation16 = 0x08

function readHeader(data: Buffer): UserData | UserDataProblem {
  const end = (data[0] ?? 0) + 1
  if (data.length === 0 || end > data.length) return 'header-malformed'
  let part: PartPlace | undefined
  for (let at = 1; at < end;) {
    const [id = 0, length] = data.subarray(at, at + 2)
    const value = data.subarray(at + 2, at + 2 + (length ?? 0))
    if (length === undefined || at + 2 + length > end) return 'header-malformed'
    if (id !== concatenation8 && id !== concatenation16) return 'header-not-offered'
    if (value.length !== (id === concatenation8 ? 3 : 4)) return 'header-malformed'
    const is16Bit = id === concatenation16
    const reference = is16Bit ? value.readUInt16BE(0) : value.readUInt8(0)
    const place = placeOf({ reference, is16Bit, of: value.at(-2) ?? 0, number: value.at(-1) ?? 0 })
    if (place === 'wrong') return 'header-malformed'
    part = place
    at += 2 + length
  }
  return { octets: data.subarray(end), part }
}

function readSar(tlvs: readonly Tlv[]): PartPlace | undefined | 'sar-malformed' {
  const reference = tlvInteger(tlvs, TLV_TAG.sar_msg_ref_num)
  const of = tlvInteger(tlvs, TLV_TAG.sar_total_segments)
  const number = tlvInteger(tlvs, TLV_TAG.sar_segment_seqnum)
  if (reference === undefined && of === undefined && number === undefined) return undefined
  if (reference === undefined || of === undefined || number === undefined || reference > 0xffff || of > 255)
    return 'sar-malformed'
  const place = placeOf({ reference, is16Bit: true, of, number })
  return place === 'wrong' ? 'sar-malformed' : place
}

/** Returns undefined for the only part of a text. */
function placeOf(place: PartPlace): PartPlace | undefined | 'wrong' {
  if (place.number < 1 || place.number > place.of) return 'wrong'
  return place.of === 1 ? undefined : place
}
