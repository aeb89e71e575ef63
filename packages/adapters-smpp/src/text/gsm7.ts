import { gsm7Alphabet, gsm7Extension, gsm7ExtensionCodes } from '@gateway/core/messages'

const escape = 0x1b

/**
 * Septets by UTF-16 code unit. A character of the extension table has the escape in the high byte. The value 0xffff
 * marks a character that is in neither table.
 */
const codes = new Uint16Array(65_536).fill(0xffff)

Array.from(gsm7Alphabet).forEach((character, code) => {
  if (code !== escape) codes[character.charCodeAt(0)] = code
})
Array.from(gsm7Extension).forEach((character, at) => {
  const code = gsm7ExtensionCodes[at] ?? 0
  codes[character.charCodeAt(0)] = (escape << 8) | code
})

/** Encodes a text with one septet per octet. Throws if a character is in neither table; no replacement is made. */
export function encodeGsm7(text: string): Buffer {
  const octets = Buffer.allocUnsafe(text.length * 2)
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const code = codes[text.charCodeAt(at)] ?? 0xffff
    if (code === 0xffff) throw new Error('a character is not in the GSM 7-bit alphabet')
    if (code > 0xff) octets[length++] = escape
    octets[length++] = code & 0x7f
  }
  return octets.subarray(0, length)
}

/**
 * Returns the number of septets that a header of `headerOctets` octets and its fill bits take (TS 23.040, 9.2.3.24).
 */
export const headerSeptets = (headerOctets: number): number => Math.ceil((headerOctets * 8) / 7)

/**
 * Packs eight septets into seven octets, after `fillBits` zero bits (3GPP TS 23.038, 6.1.2.1). If seven bits remain,
 * they are filled with a carriage return (6.1.2.3.1), because zero bits would be read as `@`.
 */
export function packSeptets(text: Uint8Array, fillBits = 0): Buffer {
  const octets = Buffer.alloc(Math.ceil((fillBits + text.length * 7) / 8))
  const septets = octets.length * 8 - fillBits - text.length * 7 === 7 ? [...text, 0x0d] : text
  septets.forEach((septet, index) => {
    const bit = fillBits + index * 7
    const at = bit >> 3
    const shifted = (septet & 0x7f) << (bit & 7)
    octets[at] = (octets[at] ?? 0) | (shifted & 0xff)
    if (shifted > 0xff) octets[at + 1] = shifted >> 8
  })
  return octets
}

/**
 * Reverses `packSeptets`. Seven octets hold either seven septets and padding, or eight septets. A last septet of zero
 * bits or a carriage return (6.1.2.3.1) is therefore treated as padding.
 */
export function unpackSeptets(octets: Uint8Array, fillBits = 0): Buffer {
  const count = Math.floor((octets.length * 8 - fillBits) / 7)
  const septets = Buffer.alloc(Math.max(0, count))
  for (let index = 0; index < count; index++) {
    const bit = fillBits + index * 7
    const at = bit >> 3
    septets[index] = ((((octets[at + 1] ?? 0) << 8) | (octets[at] ?? 0)) >> (bit & 7)) & 0x7f
  }
  const isFull = (octets.length * 8 - fillBits) % 7 === 0
  const last = septets[count - 1]
  return isFull && (last === 0 || last === 0x0d) ? septets.subarray(0, count - 1) : septets
}

/** Returns the number of zero bits between a header of `headerOctets` octets and the first septet. */
export const fillBitsAfter = (headerOctets: number): number => headerSeptets(headerOctets) * 7 - headerOctets * 8
