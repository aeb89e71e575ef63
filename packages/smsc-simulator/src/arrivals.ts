import { TLV_TAG, type Tlv } from '@gateway/smpp'
import { emptyDelivery, type Delivery } from './receipts.ts'

/** Message from a mobile number to the gateway. */
export interface Arrival {
  readonly from: string
  readonly to: string
  readonly text?: string
  /** Hexadecimal octets that are sent unchanged in one short_message instead of a text. */
  readonly octets?: string
  /**
   * data_coding of the delivery. Default 0, or 8 for a text with a character outside GSM 7-bit. A text allows only 0, 3
   * (Latin-1) and 8.
   */
  readonly dataCoding?: number
  /** Form of a long text. Default `udh8`. `payload` sends it undivided in message_payload. */
  readonly parts?: 'udh8' | 'udh16' | 'sar' | 'payload'
  /** Order in which the parts are sent. Default `ascending`. */
  readonly order?: 'ascending' | 'descending'
  /** esm_class of `octets`; 0x40 if they begin with a user data header. Default 0. */
  readonly esmClass?: number
  /** System id that receives the message. Default: any. */
  readonly systemId?: string
  /** TON and NPI of `from`. Default 1 and 1. */
  readonly fromTon?: number
  readonly fromNpi?: number
}

/**
 * Returns the deliver_sm PDUs of an arrival. `reference` is common to the parts of one text. Throws an Error if the
 * arrival cannot be sent.
 */
export function arrivalDeliveries(arrival: Arrival, reference: number): readonly Delivery[] {
  const { from, to, fromTon = 1, fromNpi = 1, octets, esmClass = 0, dataCoding = 0 } = arrival
  if (from.length > 20 || to.length > 20) throw new Error('An address has at most 20 characters.')
  const head = {
    ...emptyDelivery,
    ...{ sourceAddr: from, sourceAddrTon: fromTon, sourceAddrNpi: fromNpi, destinationAddr: to, dataCoding },
  }
  if (octets !== undefined) return [{ ...head, esmClass, shortMessage: octetsOf(octets) }]
  const parts = textParts(arrival, reference).map((part): Delivery => ({ ...head, ...part }))
  return arrival.order === 'descending' ? parts.reverse() : parts
}

function octetsOf(hexadecimal: string): Buffer {
  if (!/^(?:[0-9a-f]{2}){0,254}$/i.test(hexadecimal))
    throw new Error('octets must be hexadecimal, at most 254 of them.')
  return Buffer.from(hexadecimal, 'hex')
}

type Part = Pick<Delivery, 'esmClass' | 'dataCoding' | 'shortMessage' | 'tlvs'>

function textParts({ text = '', dataCoding, parts = 'udh8' }: Arrival, reference: number): Part[] {
  const coding = dataCoding ?? (gsm7(text) === undefined ? 8 : 0)
  const whole = encoded(text, coding)
  const simple = { esmClass: 0, dataCoding: coding, tlvs: [] }
  if (parts === 'payload') {
    if (whole.length > 65_535) throw new Error('A message_payload has at most 65535 octets.')
    return [{ ...simple, shortMessage: Buffer.alloc(0), tlvs: [{ tag: TLV_TAG.message_payload, value: whole }] }]
  }
  const max = coding === 0 ? 160 : 140
  if (whole.length <= max) return [{ ...simple, shortMessage: whole }]
  // A user data header of 6 octets occupies 7 septets, and one of 7 octets occupies 8 (3GPP TS 23.040, 9.2.3.24.1 and
  // 9.2.3.24.8).
  const header = parts === 'udh16' ? (coding === 0 ? 8 : 8) : coding === 0 ? 7 : 6
  const pieces = divided(text, coding, max - header)
  if (pieces.length > 255) throw new Error('A text has at most 255 parts.')
  return pieces.map((piece, at) => ({ ...simple, ...part(piece, parts, reference, pieces.length, at + 1) }))
}

function part(piece: Buffer, form: 'udh8' | 'udh16' | 'sar', reference: number, of: number, number: number) {
  if (form === 'sar') return { shortMessage: piece, tlvs: sar(reference, of, number) }
  const header =
    form === 'udh8'
      ? [5, 0, 3, reference & 0xff, of, number]
      : [6, 8, 4, (reference >>> 8) & 0xff, reference & 0xff, of, number]
  return { esmClass: 0x40, shortMessage: Buffer.concat([Buffer.from(header), piece]) }
}

const sar = (reference: number, of: number, number: number): readonly Tlv[] => [
  { tag: TLV_TAG.sar_msg_ref_num, value: Buffer.from([(reference >>> 8) & 0xff, reference & 0xff]) },
  { tag: TLV_TAG.sar_total_segments, value: Buffer.from([of]) },
  { tag: TLV_TAG.sar_segment_seqnum, value: Buffer.from([number]) },
]

/** Divides a text into parts without splitting a character. */
function divided(text: string, coding: number, octetsMax: number): Buffer[] {
  const pieces: Buffer[] = []
  let piece: Buffer[] = []
  let octets = 0
  for (const character of text) {
    const next = encoded(character, coding)
    if (octets + next.length > octetsMax) {
      pieces.push(Buffer.concat(piece))
      piece = []
      octets = 0
    }
    piece.push(next)
    octets += next.length
  }
  return [...pieces, Buffer.concat(piece)]
}

function encoded(text: string, coding: number): Buffer {
  if (coding === 8) return ucs2(text)
  if (coding === 3) return Buffer.from(text, 'latin1')
  const septets = coding === 0 ? gsm7(text) : undefined
  if (septets === undefined) throw new Error(`The text cannot be sent with data_coding ${coding}.`)
  return septets
}

// The GSM alphabet (3GPP TS 23.038, 6.2.1 and 6.2.1.1). The gateway has its own table, so that tests find an error in
// either one.
const basic =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const extension: Readonly<Record<string, number>> = {
  ...{ '\f': 0x0a, '^': 0x14, '{': 0x28, '}': 0x29, '\\': 0x2f },
  ...{ '[': 0x3c, '~': 0x3d, ']': 0x3e, '|': 0x40, '€': 0x65 },
}

/** Encodes a text with one septet per octet. Returns undefined if a character is not in the alphabet. */
export function gsm7(text: string): Buffer | undefined {
  const octets: number[] = []
  for (const character of text) {
    const at = basic.indexOf(character)
    const extended = extension[character]
    if (at >= 0 && character !== '\x1b') octets.push(at)
    else if (extended !== undefined) octets.push(0x1b, extended)
    else return undefined
  }
  return Buffer.from(octets)
}

/** Encodes a text as UTF-16 with the high octet first. */
export const ucs2 = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16()
