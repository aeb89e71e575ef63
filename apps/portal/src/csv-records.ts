import { bulkSendLimits } from '@gateway/core/bulk-sends'
import { readWrittenNumber } from '@gateway/core/messages'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parse, CsvError } from 'csv-parse'
import { parse as parseAtOnce } from 'csv-parse/sync'

export type RecordsProblem = 'empty' | 'too-many' | 'too-many-columns' | 'broken'

export const columnsMax = 50
const recordCharactersMax = 20_000
/** Bytes to parse before yielding to other requests: about 1 ms of work, or 50 ms if all rows are blank. */
const pieceBytes = 8192
/** Maximum number of characters and records that are examined to find the delimiter. */
const sampleCharacters = 32_768
const sampleRecords = 50

const options = {
  ...{ relax_column_count: true, relax_quotes: true, bom: true },
  ...{ record_delimiter: ['\r\n', '\n', '\r'], max_record_size: recordCharactersMax },
}

/**
 * Returns the delimiter of a file: comma, semicolon or tab. It prefers the delimiter with which most of the first rows
 * contain a phone number, then the one with which most rows have the same width, then the one that yields the most
 * columns.
 */
export function delimiterOf(text: string): string {
  const beginning = text.slice(0, sampleCharacters)
  const lines = beginning.length < text.length ? beginning.replace(/[^\r\n]*$/, '') : beginning
  const scores = [',', ';', '\t'].map((delimiter) => ({ delimiter, score: scoreOf(lines || beginning, delimiter) }))
  const [best = { delimiter: ',' }] = scores.toSorted((a, b) => compare(b.score, a.score))
  return best.delimiter
}

type Score = readonly [numbers: number, evenness: number, columns: number]

const compare = (a: Score, b: Score): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]

/**
 * Returns the first rows. If a quote is not closed, for instance because the sample ends within a field, each line is
 * split at every delimiter.
 */
function sampleOf(lines: string, delimiter: string): readonly (readonly string[])[] {
  try {
    return parseAtOnce(lines, { ...options, delimiter, to: sampleRecords, skip_empty_lines: true })
  } catch {
    const plain = lines.split(/\r\n?|\n/, sampleRecords).filter((line) => line.trim() !== '')
    return plain.map((line) => line.split(delimiter))
  }
}

function scoreOf(lines: string, delimiter: string): Score {
  const records = sampleOf(lines, delimiter)
  const withNumber = records.filter((record) =>
    record.slice(0, columnsMax).some((field) => readWrittenNumber(field).number !== undefined),
  ).length
  const widths = new Map<number, number>()
  for (const { length } of records) widths.set(length, (widths.get(length) ?? 0) + 1)
  const [width = 0, times = 0] = [...widths].toSorted((a, b) => b[1] - a[1] || b[0] - a[0])[0] ?? []
  return [withNumber, width > 1 ? times : 0, width]
}

/** Parses the rows of a text, yielding to other requests between pieces. */
export async function recordsOf(text: string): Promise<readonly (readonly string[])[] | RecordsProblem> {
  const records: (readonly string[])[] = []
  const delimiter = delimiterOf(text)
  let isWide = false
  const parser = parse({ ...options, delimiter })
  parser.on('data', (record: readonly string[]) => {
    isWide ||= record.length > columnsMax
    records.push(record)
  })
  const ended = new Promise<RecordsProblem | undefined>((resolve, reject) => {
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
    // Allow twice as many records as the limit of rows, because a header and blank rows do not count.
    if (isWide || records.length > 2 * bulkSendLimits.rowsMax) {
      parser.destroy()
      return isWide ? 'too-many-columns' : 'too-many'
    }
  }
  parser.end()
  return (await ended) ?? records
}

/**
 * Returns a function that reports whether a line has more delimiters than a record may have characters. Without this
 * check, the parser would hold a row of millions of fields in memory.
 */
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
