import { randomInt } from 'node:crypto'
import { partsOf, type Body } from '@gateway/core/messages'
import type { Alphabet } from './decode-text.ts'
import { encodeGsm7, fillBitsAfter, headerSeptets, packSeptets } from './gsm7.ts'

/**
 * Form of texts with several parts: a user data header with a reference of one or two octets, the sar TLVs, or one
 * undivided payload.
 */
export type LongTexts = 'udh-8' | 'udh-16' | 'sar' | 'payload'

export interface TextSettings {
  readonly alphabet: Alphabet
  readonly long: LongTexts
}

/** The user data of one PDU. */
export interface Segment {
  readonly dataCoding: number
  /** User data, including the header if there is one. */
  readonly octets: Buffer
  readonly hasHeader: boolean
  /** True if the octets belong into `message_payload`. */
  readonly isPayload: boolean
  /** Values of the sar TLVs. */
  readonly sar: { readonly reference: number; readonly number: number; readonly of: number } | undefined
}

/**
 * Encodes a text into segments: for `udh-8` and `sar` as many as `body.parts`, for `udh-16` perhaps one more because
 * its header is longer, and for `payload` one. If `isFlash`, the message has class 0: phones show it at once and do not
 * keep it.
 */
export function encodeBody(
  body: Body,
  { alphabet: usual, long }: TextSettings,
  nextReference: (limit: 256 | 65_536) => number,
  isFlash = false,
): readonly Segment[] {
  const alphabet = isFlash && usual === 'latin-1' ? 'gsm-7' : usual
  const sent = alphabet === 'latin-1' && body.encoding === 'gsm-7' && !isLatin1(body.text) ? asUcs2(body) : body
  const dataCoding = isFlash ? flashCoding(sent) : dataCodingOf(sent, alphabet)
  const plain = { dataCoding, hasHeader: false, isPayload: false, sar: undefined }
  if (sent.parts === 1) return [{ ...plain, octets: encode(sent.text, sent, alphabet, 0) }]
  if (long === 'payload') return [{ ...plain, isPayload: true, octets: encode(sent.text, sent, alphabet, 0) }]
  const texts = partsOf(sent, unitsOf(sent, long))
  const of = texts.length
  if (long === 'sar') {
    const reference = nextReference(65_536)
    return texts.map((text, at) => ({
      ...plain,
      octets: encode(text, sent, alphabet, 0),
      sar: { reference, number: at + 1, of },
    }))
  }
  const reference = nextReference(long === 'udh-8' ? 256 : 65_536)
  return texts.map((text, at) => {
    const header = headerOf(long, reference, of, at + 1)
    const octets = Buffer.concat([header, encode(text, sent, alphabet, header.length)])
    return { ...plain, octets, hasHeader: true }
  })
}

/** Builds a header with information element 0 or 8 (3GPP TS 23.040, 9.2.3.24.1 and 9.2.3.24.8). */
const headerOf = (long: 'udh-8' | 'udh-16', reference: number, of: number, number: number): Buffer =>
  long === 'udh-8'
    ? Buffer.of(5, 0, 3, reference, of, number)
    : Buffer.of(6, 8, 4, reference >> 8, reference & 0xff, of, number)

const octetsMax = 140
const septetsMax = 160

/**
 * Returns the number of septets or code units that fit into a part. For `sar` the carrier adds a header with a
 * reference of one octet.
 */
function unitsOf({ encoding }: Body, long: LongTexts): number {
  const header = long === 'udh-16' ? 7 : 6
  return encoding === 'gsm-7' ? septetsMax - headerSeptets(header) : Math.floor((octetsMax - header) / 2)
}

function dataCodingOf({ encoding }: Body, alphabet: Alphabet): number {
  if (encoding === 'ucs-2') return 8
  return alphabet === 'latin-1' ? 3 : 0
}

/**
 * A data_coding with class 0 also states an alphabet, and cannot state Latin-1 (3GPP TS 23.038, 4: general data
 * coding).
 */
const flashCoding = ({ encoding }: Body): number => (encoding === 'ucs-2' ? 0x18 : 0x10)

function encode(text: string, { encoding }: Body, alphabet: Alphabet, headerOctets: number): Buffer {
  if (encoding === 'ucs-2') return Buffer.from(text, 'utf16le').swap16()
  if (alphabet === 'latin-1') return Buffer.from(text, 'latin1')
  const septets = encodeGsm7(text)
  return alphabet === 'gsm-7' ? septets : packSeptets(septets, fillBitsAfter(headerOctets))
}

const isLatin1 = (text: string): boolean => /^[\0-\xff]*$/.test(text)

/**
 * Converts a text to UCS-2, because Latin-1 lacks one of its characters. `parts` is the number of parts that the text
 * then has.
 */
const asUcs2 = ({ text }: Body): Body => ({ text, encoding: 'ucs-2', parts: text.length <= 70 ? 1 : 2 })

/** References that distinguish the long texts to one number (3GPP TS 23.040, 9.2.3.24.1). */
export interface MessageReferences {
  /**
   * Returns the next reference for this number, from 0 to `limit - 1`. No value is repeated before all have been used.
   */
  next(to: string, limit: 256 | 65_536): number
}

/**
 * Maximum number of phone numbers remembered. Beyond it, the least recently used number is forgotten, and its
 * references start again at a random value.
 */
const numbersMax = 100_000

export function messageReferences(random: (limit: number) => number = randomInt): MessageReferences {
  const last = new Map<string, number>()
  return {
    next(to, limit) {
      const reference = ((last.get(to) ?? random(65_536)) + 1) % 65_536
      last.delete(to)
      last.set(to, reference)
      const oldest = last.size > numbersMax ? last.keys().next().value : undefined
      if (oldest !== undefined) last.delete(oldest)
      return reference % limit
    },
  }
}
