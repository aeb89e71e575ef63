import { gsm7Alphabet, gsm7Extension, gsm7ExtensionCodes } from '@gateway/core/messages'

/** Alphabet in which the octets of a text are written, one character per octet except for escapes and UCS-2. */
export type Alphabet = 'gsm' | 'latin1' | 'ascii' | 'ucs2'

/** First octet of a text that is not in the alphabet. `at` is its position in the octets of the text, from 0. */
export interface OutsideAlphabet {
  readonly alphabet: Alphabet
  readonly at: number
}

/** Control characters of a text: tab, line feed, form feed and carriage return. */
const controls: readonly number[] = [0x09, 0x0a, 0x0c, 0x0d]

/** Returns a table of 256 entries: 1 for an octet of the alphabet, 0 for any other. */
const tableOf = (isInside: (octet: number) => boolean): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, octet) => (isInside(octet) ? 1 : 0))

const isAscii = (octet: number): boolean => (octet >= 0x20 && octet < 0x7f) || controls.includes(octet)

const INSIDE = {
  gsm: tableOf((octet) => octet < 0x80),
  ascii: tableOf(isAscii),
  // Excludes 0x7f to 0x9f, which are control characters in Latin-1 and letters in other code pages.
  latin1: tableOf((octet) => isAscii(octet) || octet >= 0xa0),
} as const satisfies Record<Exclude<Alphabet, 'ucs2'>, Uint8Array>

/** Returns the first octet outside the alphabet. For UCS-2 this is the last octet of an odd number. */
export function findOutside(octets: Buffer, alphabet: Alphabet): OutsideAlphabet | undefined {
  const { length } = octets
  if (alphabet === 'ucs2') return length % 2 === 0 ? undefined : { alphabet, at: length - 1 }
  const inside = INSIDE[alphabet]
  for (let at = 0; at < length; at++) if (inside[octets[at] ?? 0] === 0) return { alphabet, at }
  return undefined
}

/** Decodes the octets of a text. Returns the first octet outside the alphabet instead of replacing it. */
export function decodeText(octets: Buffer, alphabet: Alphabet): string | OutsideAlphabet {
  const outside = findOutside(octets, alphabet)
  if (outside !== undefined) return outside
  if (alphabet === 'gsm') return decodeGsm(octets)
  return alphabet === 'ucs2' ? decodeUcs2(octets) : octets.toString('latin1')
}

const escape = 0x1b
const extension = new Map(gsm7ExtensionCodes.map((code, at) => [code, gsm7Extension[at] ?? '']))

/**
 * Decodes septets, one in each octet (3GPP TS 23.038, 6.2.1). An escape before a code that the extension table lacks is
 * read as the character of the default table, as the specification asks of receivers; a second escape is a space.
 */
function decodeGsm(octets: Buffer): string | OutsideAlphabet {
  let text = ''
  let isEscaped = false
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at] ?? 0
    if (octet === escape) {
      if (isEscaped) text += ' '
      isEscaped = !isEscaped
    } else {
      text += (isEscaped ? extension.get(octet) : undefined) ?? gsm7Alphabet[octet] ?? ''
      isEscaped = false
    }
  }
  return isEscaped ? { alphabet: 'gsm', at: octets.length - 1 } : text
}

/** Decodes UCS-2, big-endian unless a byte order mark says otherwise. The mark is not part of the text. */
function decodeUcs2(octets: Buffer): string {
  const mark = octets.length === 0 ? 0 : octets.readUInt16BE(0)
  const text = Buffer.from(mark === 0xfeff || mark === 0xfffe ? octets.subarray(2) : octets)
  return (mark === 0xfffe ? text : text.swap16()).toString('utf16le')
}

const gsmCodes = new Map<string, readonly number[]>([
  ...Array.from(gsm7Alphabet, (character, code) => [character, [code]] as const),
  ...Array.from(gsm7Extension, (character, at) => [character, [escape, gsm7ExtensionCodes[at] ?? 0]] as const),
])

/** Encodes a text in GSM 7-bit, one septet per octet. Returns undefined if a character is in neither table. */
export function encodeGsm(text: string): Buffer | undefined {
  const codes: number[] = []
  for (const character of text) {
    const code = gsmCodes.get(character)
    if (code === undefined) return undefined
    codes.push(...code)
  }
  return Buffer.from(codes)
}

/** Encodes a text in big-endian UCS-2. */
export const encodeUcs2 = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16()
