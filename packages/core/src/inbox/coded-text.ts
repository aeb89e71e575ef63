import { lockingTable, singleShiftTable } from './national-tables.ts'

/**
 * User data of a person's message, or of one part of it, as the network coded it (ruling 1.32). Octets are hexadecimal,
 * because parts that wait for others are stored as JSON.
 */
export type CodedText = Gsm7Text | { readonly coding: 'ucs-2'; readonly octets: string }

/** Septets, one in each octet, with the national language tables that the user data header names. */
export interface Gsm7Text {
  readonly coding: 'gsm-7'
  readonly octets: string
  /** National language identifiers of 3GPP TS 23.038, 6.2.1.2.4; undefined: the default tables. */
  readonly locking?: number | undefined
  readonly single?: number | undefined
}

/** Decodes one text, or one part by itself. */
export const readCodedText = (coded: CodedText): string => readCodedParts([coded])[0] ?? ''

/** State that the decoder carries from one part to the next. */
interface Carried {
  isEscaped: boolean
  isLittleEndian: boolean
}

/**
 * Decodes consecutive parts of one text. State carries over from part to part: an escape whose character is in the next
 * part, and the octet order of a byte order mark. Undefined stands for a part that is missing or was not coded; it
 * decodes to an empty text.
 */
export function readCodedParts(parts: readonly (CodedText | undefined)[]): readonly string[] {
  const carried: Carried = { isEscaped: false, isLittleEndian: false }
  return parts.map((part) => {
    if (part?.coding === 'gsm-7') return readGsm7(part, carried)
    carried.isEscaped = false
    return part === undefined ? '' : readUcs2(octetsOf(part.octets), carried)
  })
}

const escape = 0x1b

/**
 * Decodes septets. After an escape, a code that the single shift table lacks is read in the locking table (6.2.1.1),
 * and another escape is read as a space. An octet above 127 is not a septet; it is read as Latin-1, because some
 * carriers send such octets.
 */
function readGsm7({ octets, locking, single }: Gsm7Text, carried: Carried): string {
  const alphabet = lockingTable(locking)
  const extension = singleShiftTable(single)
  let text = ''
  for (const code of octetsOf(octets)) {
    if (carried.isEscaped) {
      text += code === escape ? ' ' : (extension.get(code) ?? characterOf(code, alphabet))
      carried.isEscaped = false
    } else if (code === escape) carried.isEscaped = true
    else text += characterOf(code, alphabet)
  }
  return text
}

const characterOf = (code: number, alphabet: string): string =>
  code > 0x7f ? String.fromCharCode(code) : (alphabet[code] ?? '')

const byteOrderMark = 0xfeff
const swappedMark = 0xfffe

/**
 * Decodes UCS-2, big-endian unless a byte order mark says otherwise; the mark is not part of the text. Half a surrogate
 * pair stays, because the next part may begin with the other half. An odd octet at the end is ignored.
 */
function readUcs2(octets: readonly number[], carried: Carried): string {
  const units = Array.from({ length: octets.length >> 1 }, (_, at) => unitAt(octets, at * 2))
  if (units[0] === swappedMark) carried.isLittleEndian = true
  else if (units[0] === byteOrderMark) carried.isLittleEndian = false
  const own = units[0] === swappedMark || units[0] === byteOrderMark ? units.slice(1) : units
  const text = own.map((unit) => String.fromCharCode(carried.isLittleEndian ? swapped(unit) : unit)).join('')
  return withoutPadding(text)
}

/** Returns a text without the U+0000 at its end, which pads fields of some networks. */
export function withoutPadding(text: string): string {
  let { length } = text
  while (length > 0 && text.charCodeAt(length - 1) === 0) length--
  return text.slice(0, length)
}

const unitAt = (octets: readonly number[], at: number): number => ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0)
const swapped = (unit: number): number => ((unit & 0xff) << 8) | (unit >> 8)

const octetsOf = (hex: string): readonly number[] =>
  Array.from({ length: hex.length >> 1 }, (_, at) => Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16))
