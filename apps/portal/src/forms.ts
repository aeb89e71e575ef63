import { randomUUID } from 'node:crypto'
import { parse } from 'node:querystring'
import busboy from 'busboy'

/** So many bytes a form may have: a thousand numbers with a long text are 40 kB. */
export const formBytesMax = 256 * 1024

/** Leaves U+0000 out, which no text of the store can have, and replaces halves of characters. */
export const storable = (text: string): string =>
  text.replaceAll('\0', '').replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')

/** The fields of a form that was submitted; those that it lacks are empty. */
export class Fields {
  private readonly values: Readonly<Record<string, unknown>>
  /** What was chosen to be uploaded; undefined: nothing. */
  readonly file: Buffer | undefined

  /** `body`: as it was sent, or what a parser of an outer app made of it. */
  constructor(body: string | object, file?: Buffer) {
    this.file = file
    this.values = typeof body === 'string' ? parse(body, '&', '=', { maxKeys: 200 }) : { ...body }
  }

  /** Returns a field as it was written. Browsers write line breaks as CRLF, which would be paid for. */
  text(name: string): string {
    return (this.all(name)[0] ?? '').replaceAll('\r\n', '\n')
  }

  trimmed(name: string): string {
    return this.text(name).trim()
  }

  /** Of boxes with one name those that are ticked. */
  all(name: string): readonly string[] {
    const value = Object.hasOwn(this.values, name) ? this.values[name] : []
    return [value].flat().flatMap((one) => (typeof one === 'string' ? [storable(one)] : []))
  }

  /** The UUID of a form that does something once, however often it is submitted; undefined: it has none. */
  operation(): string | undefined {
    const text = this.text('operation')
    return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : undefined
  }

  /** Undefined: no whole number from 1 to 2^53-1. */
  number(name: string): number | undefined {
    const text = this.trimmed(name)
    return /^[1-9][0-9]{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined
  }
}

/** So many bytes a form with a file may have. */
export const uploadBytesMax = 16 * 1024 * 1024

/** At most 50 fields and one file; what is beyond, and what is no such body, is too large. */
export async function readMultipart(type: string, body: Buffer): Promise<Fields | 'too-large'> {
  const values: Record<string, string[]> = Object.create(null) as Record<string, string[]>
  const pieces: Buffer[] = []
  const seen = { isWhole: true, hasFile: false }
  const cut = (): void => void (seen.isWhole = false)
  try {
    const limits = { files: 1, fields: 50, parts: 51, fieldSize: formBytesMax, headerPairs: 20 }
    const reader = busboy({ headers: { 'content-type': type }, limits })
    await new Promise((resolve, reject) => {
      reader.on('field', (name, value, { valueTruncated, nameTruncated }) => {
        if (valueTruncated || nameTruncated) cut()
        ;(values[name] ??= []).push(value)
      })
      reader.on('file', (_name, stream, { filename }) => {
        // A browser sends a part without a name if no file was chosen; a chosen file may be empty.
        if (filename !== undefined && filename !== '') seen.hasFile = true
        stream.on('data', (piece: Buffer) => pieces.push(piece))
      })
      for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) reader.on(limit, cut)
      reader.on('close', resolve).on('error', reject)
      reader.end(body)
    })
  } catch {
    return 'too-large'
  }
  const file = Buffer.concat(pieces)
  return seen.isWhole ? new Fields(values, seen.hasFile || file.length > 0 ? file : undefined) : 'too-large'
}

/** What is wrong with the fields of a form, by name. */
export type Problems = Readonly<Record<string, string>>

/** A key of a form, by which what it does is done once however often it is submitted. */
export const newFormKey = (): string => `portal-${randomUUID()}`
