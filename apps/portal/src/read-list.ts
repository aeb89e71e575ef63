import { bulkSendLimits, type BulkRow } from '@gateway/core/bulk-sends'
import { readNumberIn, type CallingCode } from '@gateway/core/messages'
import { decodeWindows1252 } from '@gateway/wire'
import { columnsMax, recordsOf } from './csv-records.ts'
import { isBinary, isZip, kindOf, type FileKind } from './file-kind.ts'
import { chooseColumn } from './number-column.ts'
import { rowOf } from './recipients.ts'
import type { WorkbookProblem } from './workbook/read-part.ts'
import { recordsOfWorkbook } from './workbook/read-workbook.ts'

/** List of recipients as it is stored. */
export interface RecipientList {
  /** Names of the columns, which the text uses as fields, in the order of the file. */
  readonly columns: readonly string[]
  /** Index of the column that has the numbers, from 0. */
  readonly numberColumn: number
  /** False if another column could have the numbers too, so that a person must choose. */
  readonly isCertain: boolean
  readonly rows: readonly BulkRow[]
}

/**
 * Decodes a text in UTF-8, UTF-16 or Windows-1252. The byte order mark decides. Without one, UTF-16 is recognized by
 * the zero bytes of its commas and line breaks, and bytes that are not valid UTF-8 are read as Windows-1252.
 */
export function decodeText(bytes: Buffer): string {
  const start = bytes.subarray(0, 4096)
  const [first, second] = start
  const zeros = (from: 0 | 1): number => start.filter((byte, at) => at % 2 === from && byte === 0).length
  const isWide = zeros(0) + zeros(1) > start.length / 10
  if ((first === 0xff && second === 0xfe) || (isWide && zeros(1) > zeros(0)))
    return new TextDecoder('utf-16le').decode(bytes)
  if ((first === 0xfe && second === 0xff) || isWide) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return decodeWindows1252(bytes)
  }
}

/** Returns the beginning of a file up to its last line break, so that neither a character nor a row is cut. */
export function wholeLines(bytes: Buffer): Buffer {
  const at = Math.max(bytes.lastIndexOf(10), bytes.lastIndexOf(13))
  // In UTF-16LE the line break includes the zero byte that follows.
  const width = at % 2 === 0 && bytes[at + 1] === 0 ? 2 : 1
  return at < 0 ? bytes : bytes.subarray(0, at + width)
}

export type ListProblem = FileKind | Exclude<WorkbookProblem, 'not-a-workbook'> | 'no-rows' | 'no-numbers'

/** Returns the rows of a file. U+0000 is removed, because PostgreSQL cannot store it. */
async function readRecords(bytes: Buffer): Promise<readonly (readonly string[])[] | ListProblem> {
  const kind = kindOf(bytes)
  if (kind === 'archive' || kind === 'workbook') {
    const records = isZip(bytes) ? await recordsOfWorkbook(bytes) : 'not-a-workbook'
    return records === 'not-a-workbook' || (records === 'damaged-workbook' && kind === 'archive') ? kind : records
  }
  if (kind !== undefined) return kind
  const text = decodeText(bytes)
    .replaceAll('\0', '')
    .replace(/^sep=.\r?\n/, '')
  return isBinary(text) ? 'binary' : recordsOf(text)
}

/**
 * Reads a workbook, or a file of comma-separated values (RFC 4180; semicolons and tabs are accepted too). The first row
 * that is not blank names the columns, unless it contains a phone number; then the columns are named 1, 2 and so on.
 * Repeated numbers are marked as such. Numbers without a country code are read in `country`.
 */
export async function readList(bytes: Buffer, country: CallingCode | undefined): Promise<RecipientList | ListProblem> {
  const records = await readRecords(bytes)
  if (typeof records === 'string') return records
  const start = records.findIndex((record) => !isBlank(record))
  const first = records[start]
  if (first === undefined) return 'empty'
  const width = records.reduce((most, record) => Math.max(most, record.length), 0)
  if (width > columnsMax) return 'too-many-columns'
  const isHead = !first.some((field) => readNumberIn(country, field).number !== undefined)
  const columns = Array.from({ length: width }, (_, at) => (isHead ? (first[at] ?? '').trim() : '') || String(at + 1))
  const from = isHead ? start + 1 : start
  const body = records.slice(from)
  if (body.every(isBlank)) return 'no-rows'
  const { column, isCertain } = chooseColumn(columns, body, country)
  if (column === undefined) return 'no-numbers'
  const filled = body.flatMap((fields, at) => (isBlank(fields) ? [] : [{ row: from + at + 1, fields }]))
  if (filled.length > bulkSendLimits.rowsMax) return 'too-many'
  const read = filled.map(({ row, fields }) => rowOf(row, fields[column] ?? '', fields, country))
  return { columns, numberColumn: column, isCertain, rows: markRepeated(read) }
}

/**
 * Returns rows for numbers that were typed or pasted. If a number is normalized, its row keeps the original as its only
 * field.
 */
export const rowsOf = (written: readonly string[], country: CallingCode | undefined): readonly BulkRow[] =>
  markRepeated(written.map((number, at) => rowOf(at + 1, number, [], country))).map((row, at) =>
    row.changed === true ? { ...row, fields: [written[at] ?? ''] } : row,
  )

/** Returns the rows without numbers, for a list whose column of numbers is not chosen yet. */
export const withoutColumn = (rows: readonly BulkRow[]): readonly BulkRow[] =>
  rows.map(({ row, fields }) => ({ row, number: '', fields, refused: 'column-not-chosen' as const }))

/** Returns the rows with the numbers of the given column. */
export const numbersFrom = (
  column: number,
  rows: readonly BulkRow[],
  country: CallingCode | undefined,
): readonly BulkRow[] => markRepeated(rows.map(({ row, fields }) => rowOf(row, fields[column] ?? '', fields, country)))

function markRepeated(rows: readonly BulkRow[]): readonly BulkRow[] {
  const seen = new Set<string>()
  return rows.map((row) => {
    if (row.refused !== undefined || !seen.has(row.number)) {
      seen.add(row.number)
      return row
    }
    return { ...row, refused: 'repeated' as const }
  })
}

/** Divides the rows into calls, which are accepted one after the other. */
export const inCalls = (rows: readonly BulkRow[]): readonly (readonly BulkRow[])[] =>
  Array.from({ length: Math.ceil(rows.length / bulkSendLimits.callRowsMax) }, (_, at) =>
    rows.slice(at * bulkSendLimits.callRowsMax, (at + 1) * bulkSendLimits.callRowsMax),
  )

const isBlank = (fields: readonly string[]): boolean => fields.every((field) => field.trim() === '')
