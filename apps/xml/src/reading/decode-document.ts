import { decodeWindows1252 } from '@gateway/wire'

/** Encodings by their byte order mark. */
const marks: readonly (readonly [string, Buffer])[] = [
  ['utf-8', Buffer.from([0xef, 0xbb, 0xbf])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
]
const encodings = new Set(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-15'])
const declarationBytesMax = 256

/**
 * Decodes a document by its byte order mark, else its XML declaration, else the charset of its content type, else UTF-8 (ruling
 * 4.1). Supported: UTF-8, UTF-16, windows-1252, ISO-8859-15; ISO-8859-1 and US-ASCII are read as windows-1252. Undefined for another
 * encoding or invalid bytes. The mark is not part of the text. A single-byte declaration that names UTF-16 (as .NET's `StringWriter`
 * writes) means UTF-8.
 */
export function decodeDocument(body: Buffer, contentType = ''): string | undefined {
  const label = markOf(body) ?? declaredIn(body) ?? charsetOf(contentType) ?? 'utf-8'
  try {
    const decoder = new TextDecoder(label, { fatal: true })
    if (!encodings.has(decoder.encoding)) return undefined
    return decoder.encoding === 'windows-1252' ? decodeWindows1252(body) : decoder.decode(body)
  } catch {
    return undefined
  }
}

const markOf = (body: Buffer): string | undefined =>
  marks.find(([, mark]) => body.subarray(0, mark.length).equals(mark))?.[0]

/** The encoding that a declaration in ASCII names. */
function declaredIn(body: Buffer): string | undefined {
  const start = body.toString('latin1', 0, declarationBytesMax)
  const label = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([^"'>]*)/.exec(start)?.[1]
  return label !== undefined && /^\s*utf-16(?:le|be)?\s*$/i.test(label) ? 'utf-8' : label
}

const charsetOf = (contentType: string): string | undefined => /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1]
