import { gsm7Alphabet, gsm7Extension } from '@gateway/core'

const escape = 0x1b

/** The codes of the extension table in the order of core's characters (3GPP TS 23.038, 6.2.1.1). */
const extensionCodes = [0x0a, 0x14, 0x28, 0x29, 0x2f, 0x3c, 0x3d, 0x3e, 0x40, 0x65]

/** By UTF-16 code unit: the septet, with the escape in the high byte for those of the extension table; 0xffff: in neither. */
const codes = new Uint16Array(65_536).fill(0xffff)
const characters: readonly string[] = Array.from(gsm7Alphabet)
const extended = new Map<number, string>()

characters.forEach((character, code) => {
  if (code !== escape) codes[character.charCodeAt(0)] = code
})
Array.from(gsm7Extension).forEach((character, at) => {
  const code = extensionCodes[at] ?? 0
  codes[character.charCodeAt(0)] = (escape << 8) | code
  extended.set(code, character)
})

/** The septets of a text, one an octet. Throws if a character is in neither table: nothing stands in for it. */
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
 * The text of septets, one an octet. A code that the extension table lacks is read in the default alphabet (6.2.1.1), a second escape as a
 * space; an octet above 127 is no septet and read as Latin-1, since carriers send such.
 */
export function decodeGsm7(octets: Uint8Array): string {
  let text = ''
  for (let at = 0; at < octets.length; at++) {
    const code = octets[at] ?? 0
    if (code !== escape) text += code > 0x7f ? String.fromCharCode(code) : (characters[code] ?? '')
    else {
      const next = octets[++at]
      if (next === undefined) return text
      text += next === escape ? ' ' : (extended.get(next) ?? decodeGsm7(Uint8Array.of(next)))
    }
  }
  return text
}
