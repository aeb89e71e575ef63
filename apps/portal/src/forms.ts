import { randomUUID } from 'node:crypto'
import { parse } from 'node:querystring'
import busboy from 'busboy'

/** Maximum size of a form without a file, in bytes. A thousand numbers with a long text take 40 kB. */
export const formBytesMax = 256 * 1024

/** Removes U+0000, which PostgreSQL cannot store, and replaces unpaired surrogates. */
export const storable = (text: string): string =>
  text.replaceAll('\0', '').replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')

/** Fields of a submitted form. A missing field reads as empty. */
export class Fields {
  private readonly values: Readonly<Record<string, unknown>>
  /** Uploaded file, or undefined if none was chosen. */
  readonly file: Buffer | undefined

  /** Accepts the body as it was sent, or as the body parser of a surrounding Express app has parsed it. */
  constructor(body: string | object, file?: Buffer) {
    this.file = file
    this.values = typeof body === 'string' ? parse(body, '&', '=', { maxKeys: 200 }) : { ...body }
  }

  /** Returns the value of a field with LF line breaks. Browsers send CRLF, whose extra character would be charged. */
  text(name: string): string {
    return (this.all(name)[0] ?? '').replaceAll('\r\n', '\n')
  }

  trimmed(name: string): string {
    return this.text(name).trim()
  }

  /** Returns the values of all ticked boxes of one name. */
  all(name: string): readonly string[] {
    const value = Object.hasOwn(this.values, name) ? this.values[name] : []
    return [value].flat().flatMap((one) => (typeof one === 'string' ? [storable(one)] : []))
  }

  /**
   * Returns the operation id (a UUID) of a form that takes effect once even if it is submitted repeatedly, or undefined
   * if there is none.
   */
  operation(): string | undefined {
    const text = this.text('operation')
    return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : undefined
  }

  /** Returns the field as a whole number from 1 to 2^53-1, or undefined if it is not one. */
  number(name: string): number | undefined {
    const text = this.trimmed(name)
    return /^[1-9][0-9]{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined
  }
}

/** Maximum size of a form with a file, in bytes. */
export const uploadBytesMax = 16 * 1024 * 1024

/**
 * Parses a multipart body with at most 50 fields and one file. Returns 'too-large' beyond that, and also if the body
 * cannot be parsed.
 */
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
        // A browser sends a part with an empty file name if no file was chosen. A chosen file may itself be empty.
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

/** Error messages by field name. */
export type Problems = Readonly<Record<string, string>>

/** Returns a new idempotency key for a form, so that it takes effect once even if it is submitted repeatedly. */
export const newFormKey = (): string => `portal-${randomUUID()}`
