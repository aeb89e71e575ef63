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
 * Number of bytes at the start of a document from which its encoding is determined. A shorter document is used whole.
 */
export const startBytes = declarationBytesMax

/**
 * Decodes the next bytes of a document. `isLast` is true for the last ones. Returns undefined if they are not valid in
 * the encoding.
 */
export type DocumentDecoder = (bytes: Buffer, isLast: boolean) => string | undefined

/**
 * Returns the decoder for a document that begins with these bytes, by its byte order mark, else its declaration, else
 * the charset of its content type, else UTF-8 (ruling 4.1; decision 0040). Returns undefined if the encoding is not
 * supported.
 */
export function documentDecoder(start: Buffer, contentType = ''): DocumentDecoder | undefined {
  const decoder = decoderFor(markOf(start) ?? declaredIn(start) ?? charsetOf(contentType) ?? 'utf-8')
  if (decoder === undefined || !encodings.has(decoder.encoding)) return undefined
  if (decoder.encoding === 'windows-1252') return (bytes) => decodeWindows1252(bytes)
  return (bytes, isLast) => {
    try {
      return decoder.decode(bytes, { stream: !isLast })
    } catch {
      return undefined
    }
  }
}

function decoderFor(label: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(label, { fatal: true })
  } catch {
    return undefined
  }
}

const markOf = (body: Buffer): string | undefined =>
  marks.find(([, mark]) => body.subarray(0, mark.length).equals(mark))?.[0]

/** Returns the encoding that a declaration in ASCII names. */
function declaredIn(body: Buffer): string | undefined {
  const start = body.toString('latin1', 0, declarationBytesMax)
  const label = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([^"'>]*)/.exec(start)?.[1]
  return label !== undefined && /^\s*utf-16(?:le|be)?\s*$/i.test(label) ? 'utf-8' : label
}

const charsetOf = (contentType: string): string | undefined => /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1]
