/** Kind of a file that is not a list of comma-separated values. */
export type FileKind =
  'no-bytes' | 'workbook' | 'old-workbook' | 'archive' | 'pdf' | 'picture' | 'page' | 'contacts' | 'binary'

const signatures: readonly (readonly [kind: FileKind, bytes: string])[] = [
  ['archive', '504b0304'],
  ['archive', '504b0506'],
  ['archive', '1f8b'],
  ['archive', '377abcaf271c'],
  ['archive', '52617221'],
  ['old-workbook', 'd0cf11e0a1b11ae1'],
  ['pdf', Buffer.from('%PDF-').toString('hex')],
  ['picture', '89504e47'],
  ['picture', 'ffd8ff'],
  ['picture', '474946383'],
]
const beginnings: readonly (readonly [kind: FileKind, beginning: RegExp])[] = [
  ['page', /^\s*(?:<!doctype|<html|<\?xml|<table)/i],
  ['contacts', /^\s*BEGIN:VCARD/i],
  ['binary', /^\{\\rtf/],
]

/** Returns the kind of a file according to its first bytes, or undefined if the file may be a text. */
export function kindOf(bytes: Buffer): FileKind | undefined {
  if (bytes.length === 0) return 'no-bytes'
  const start = bytes.subarray(0, 4096)
  const hex = start.subarray(0, 8).toString('hex')
  const kind = signatures.find(([, signature]) => hex.startsWith(signature))?.[0]
  // A workbook is an archive. The names of its entries show its kind: xl/… (Excel), the OpenDocument type, Index/…
  // (Numbers).
  const isWorkbook = /\[Content_Types\]\.xml|xl\/|opendocument\.spreadsheet|Index\//.test(start.toString('latin1'))
  if (kind !== undefined) return kind === 'archive' && isWorkbook ? 'workbook' : kind
  const text = start.toString('latin1').replace(/^\u00ef\u00bb\u00bf/, '')
  return beginnings.find(([, beginning]) => beginning.test(text))?.[0]
}

/** True for a ZIP archive, which a workbook is too. */
export const isZip = (bytes: Buffer): boolean => bytes.subarray(0, 4).toString('hex') === '504b0304'

/** True if more than 1 % of the characters are control characters that do not occur in text. */
export function isBinary(text: string): boolean {
  const sample = text.slice(0, 4096)
  const controls = Array.from(sample).filter((one) => one === '\ufffd' || (one < ' ' && !/\s/.test(one))).length
  return controls > sample.length / 100
}
