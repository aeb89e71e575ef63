/**
 * Decodes a URL-encoded text once, with `+` as space (rulings 3.1, 4.4). The escaped bytes are UTF-8 if all of them are
 * valid, else windows-1252. A malformed `%` and unescaped characters stay unchanged.
 */
export function percentDecode(encoded: string): string {
  const spaced = encoded.replaceAll('+', ' ')
  return spaced.includes('%') ? (decodeUtf8(spaced) ?? decodeBytes(spaced)) : spaced
}

/** Returns undefined if the escapes are not UTF-8. */
function decodeUtf8(text: string): string | undefined {
  try {
    return text.replace(/(?:%[0-9a-f]{2})+/gi, decodeURIComponent)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

const decodeBytes = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => windows1252Character(parseInt(digits, 16)))

/**
 * Characters of the bytes 80 to 9F in windows-1252. The five undefined bytes keep their value, as on the web
 * (iconv-lite drops them).
 */
const high = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/**
 * Returns the character of a byte; each byte has one. The decoder of Node (seen on 20.20) does not map the bytes 80 to
 * 9F, such as the euro sign.
 */
export const windows1252Character = (byte: number): string =>
  byte >= 0x80 && byte <= 0x9f ? high.charAt(byte - 0x80) : String.fromCharCode(byte)

export const decodeWindows1252 = (bytes: Buffer): string =>
  bytes.toString('latin1').replace(/[\x80-\x9f]/g, (control) => windows1252Character(control.charCodeAt(0)))

const isWhiteSpace = (unit: number): boolean => unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09

/**
 * Trims the white space of XML: space, tab, CR and LF (rulings 3.1, 4.2). Takes linear time for any text.
 */
export function trimWhiteSpace(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && isWhiteSpace(text.charCodeAt(from))) from++
  while (to > from && isWhiteSpace(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}
