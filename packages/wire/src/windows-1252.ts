/**
 * What the bytes 80 to 9F stand for; the five that stand for nothing keep their value, as on the web (iconv-lite drops
 * them).
 */
const high = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/**
 * The character of a byte: there is one for each. The decoder of Node (seen on 20.20) knows none from 80 to 9F, no euro
 * sign.
 */
export const windows1252Character = (byte: number): string =>
  byte >= 0x80 && byte <= 0x9f ? high.charAt(byte - 0x80) : String.fromCharCode(byte)

export const decodeWindows1252 = (bytes: Buffer): string =>
  bytes.toString('latin1').replace(/[\x80-\x9f]/g, (control) => windows1252Character(control.charCodeAt(0)))
