import { bulkSendLimits, type BulkRow } from '@gateway/core/bulk-sends'
import { readWrittenNumber } from '@gateway/core/messages'
import { decodeWindows1252 } from '@gateway/wire'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parse, CsvError } from 'csv-parse'
import { rowOf } from './recipients.ts'

/** A list of recipients, as it is stored. */
export interface RecipientList {
  /** Names of fields of the text, in the order of the file. */
  readonly columns: readonly string[]
  /** Which of them has the numbers, from 0. */
  readonly numberColumn: number
  readonly rows: readonly BulkRow[]
}

export const columnsMax = 50
const recordCharactersMax = 20_000
/** So much is read before others have their turn: 1 ms of work, or 50 where all rows are blank. */
const pieceBytes = 8192

/**
 * A text in UTF-8, UTF-16 or Windows-1252. A byte order mark tells; without one UTF-16 is known by the zeros of its
 * commas and line breaks, and what is no UTF-8 is Windows-1252.
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

/** The beginning of a file up to its last line break, so that no character and no row is cut. */
export function wholeLines(bytes: Buffer): Buffer {
  const at = Math.max(bytes.lastIndexOf(10), bytes.lastIndexOf(13))
  // In UTF-16 with the low byte first a zero belongs to it.
  const width = at % 2 === 0 && bytes[at + 1] === 0 ? 2 : 1
  return at < 0 ? bytes : bytes.subarray(0, at + width)
}

/** What stands between the fields: the most frequent of comma, semicolon and tab in the first line, outside quotes. */
function delimiterOf(text: string): string {
  const [line = ''] = /^[^\r\n]{0,20000}/.exec(text) ?? []
  const bare = line.replace(/"[^"]*"/g, '')
  const counts = [',', ';', '\t'].map((delimiter) => [delimiter, bare.split(delimiter).length] as const)
  return counts.reduce((best, one) => (one[1] > best[1] ? one : best))[0]
}

export type ListProblem = 'empty' | 'too-many' | 'too-many-columns' | 'broken' | 'no-numbers'

/**
 * Reads a file of comma-separated values (RFC 4180; also with semicolons or tabs). Its first row names the columns,
 * unless there is a number in it; then they are called 1, 2 and so on. The column of the numbers is the one whose name
 * says so, else the one with most numbers. A number that comes again is left out and told as a repetition.
 */
export async function readList(bytes: Buffer): Promise<RecipientList | ListProblem> {
  const text = decodeText(bytes).replace(/^sep=.\r?\n/, '')
  const records = await recordsOf(text)
  if (typeof records === 'string') return records
  const [first] = records
  if (first === undefined) return 'empty'
  const width = records.reduce((most, record) => Math.max(most, record.length), 0)
  if (width > columnsMax) return 'too-many-columns'
  const isHead = !first.some(isNumber)
  const columns = Array.from({ length: width }, (_, at) => (isHead ? (first[at] ?? '').trim() : '') || String(at + 1))
  const body = isHead ? records.slice(1) : records
  const numberColumn = numbersIn(columns, body)
  if (body.every(isBlank)) return 'empty'
  if (numberColumn === undefined) return 'no-numbers'
  const rows = body.flatMap((fields, at) =>
    isBlank(fields) ? [] : [rowOf(at + (isHead ? 2 : 1), fields[numberColumn] ?? '', fields)],
  )
  return rows.length > bulkSendLimits.rowsMax ? 'too-many' : { columns, numberColumn, rows: markRepeated(rows) }
}

/** Rows of numbers that were typed or pasted; a number that is changed keeps its written form as its only field. */
export const rowsOf = (written: readonly string[]): readonly BulkRow[] =>
  markRepeated(written.map((number, at) => rowOf(at + 1, number, []))).map((row, at) =>
    row.changed === true ? { ...row, fields: [written[at] ?? ''] } : row,
  )

/** The same rows with the numbers of another column. */
export const numbersFrom = (column: number, rows: readonly BulkRow[]): readonly BulkRow[] =>
  markRepeated(rows.map(({ row, fields }) => rowOf(row, fields[column] ?? '', fields)))

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

/** The rows in calls that are accepted one after the other. */
export const inCalls = (rows: readonly BulkRow[]): readonly (readonly BulkRow[])[] =>
  Array.from({ length: Math.ceil(rows.length / bulkSendLimits.callRowsMax) }, (_, at) =>
    rows.slice(at * bulkSendLimits.callRowsMax, (at + 1) * bulkSendLimits.callRowsMax),
  )

const isBlank = (fields: readonly string[]): boolean => fields.every((field) => field.trim() === '')
const isNumber = (field: string): boolean => readWrittenNumber(field).number !== undefined
const namesNumbers =
  /^(mobile|cell|phone|tel|msisdn|number|gsm|nummer|handy|recipient|to$)|(mobile|phone|number|msisdn)$/i

function numbersIn(columns: readonly string[], body: readonly (readonly string[])[]): number | undefined {
  const sample = body.slice(0, 200)
  const counts = columns.map((name, at) => {
    const numbers = sample.filter((fields) => isNumber(fields[at] ?? '')).length
    return numbers + (namesNumbers.test(name.trim()) && numbers > 0 ? sample.length : 0)
  })
  const most = Math.max(...counts)
  return most === 0 ? undefined : counts.indexOf(most)
}

async function recordsOf(text: string): Promise<readonly (readonly string[])[] | ListProblem> {
  const records: (readonly string[])[] = []
  const delimiter = delimiterOf(text)
  let isWide = false
  const parser = parse({
    ...{ delimiter, relax_column_count: true, relax_quotes: true, bom: true },
    ...{ record_delimiter: ['\r\n', '\n', '\r'], max_record_size: recordCharactersMax },
  })
  parser.on('data', (record: readonly string[]) => {
    isWide ||= record.length > columnsMax
    records.push(record)
  })
  const ended = new Promise<ListProblem | undefined>((resolve, reject) => {
    parser.on('end', () => resolve(undefined))
    parser.on('error', (problem) => (problem instanceof CsvError ? resolve('broken') : reject(problem)))
  })
  const isLineTooWide = countDelimiters(delimiter)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length && !parser.destroyed; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes)
    isWide ||= isLineTooWide(piece)
    if (!isWide) parser.write(piece)
    await nextTurn()
    // A head and blank rows may stand beside those that count.
    if (isWide || records.length > 2 * bulkSendLimits.rowsMax) {
      parser.destroy()
      return isWide ? 'too-many-columns' : 'too-many'
    }
  }
  parser.end()
  return (await ended) ?? records
}

/** Whether a line has more delimiters than a record may have characters: the parser would hold a row of millions. */
function countDelimiters(delimiter: string): (piece: Buffer) => boolean {
  const code = delimiter.charCodeAt(0)
  let count = 0
  return (piece) => {
    for (const byte of piece) {
      if (byte === 10 || byte === 13) count = 0
      else if (byte === code && ++count > recordCharactersMax) return true
    }
    return false
  }
}
