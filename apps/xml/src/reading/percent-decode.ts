import { decodeWindows1252 } from './windows-1252.ts'

/**
 * Decodes a URL-encoded text once, with `+` as space (ruling 4.4). Its escapes are bytes of UTF-8, or, where they are not, of
 * windows-1252, all of them in one text alike. A malformed `%` stays as it is, and so does what is not escaped.
 */
export function percentDecode(encoded: string): string {
  const spaced = encoded.replaceAll('+', ' ')
  if (!spaced.includes('%')) return spaced
  const escapes = /(?:%[0-9a-f]{2})+/gi
  const decoded = attempt(() => spaced.replace(escapes, decodeURIComponent))
  return decoded ?? spaced.replace(escapes, (run) => decodeWindows1252(Buffer.from(run.replaceAll('%', ''), 'hex')))
}

/** Undefined: escapes that are no UTF-8. */
function attempt(decode: () => string): string | undefined {
  try {
    return decode()
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}
