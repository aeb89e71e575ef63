import { windows1252Character } from '@gateway/wire'

/**
 * Decodes a URL-encoded text once, with `+` as space (ruling 4.4). Its escapes are bytes of UTF-8, or, where they are not, of
 * windows-1252, all of them in one text alike. A malformed `%` stays as it is, and so does what is not escaped.
 */
export function percentDecode(encoded: string): string {
  const spaced = encoded.replaceAll('+', ' ')
  return spaced.includes('%') ? (decodeUtf8(spaced) ?? decodeBytes(spaced)) : spaced
}

/** Undefined: escapes that are no UTF-8. */
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
