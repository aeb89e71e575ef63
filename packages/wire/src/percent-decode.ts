import { windows1252Character } from './windows-1252.ts'

/**
 * Decodes a URL-encoded text once, with `+` as space (rulings 3.1, 4.4). The escaped bytes are UTF-8 if all of them are
 * valid, else windows-1252. A malformed `%` and unescaped characters stay unchanged.
 */
export function percentDecode(encoded: string): string {
  const spaced = encoded.replaceAll('+', ' ')
  return spaced.includes('%') ? (decodeUtf8(spaced) ?? decodeBytes(spaced)) : spaced
}

/** Undefined if the escapes are not UTF-8. */
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
