import { bulkSendLimits } from '@gateway/core/bulk-sends'
import { readWrittenNumber } from '@gateway/core/messages'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parse, CsvError } from 'csv-parse'
import { parse as parseAtOnce } from 'csv-parse/sync'

export type RecordsProblem = 'empty' | 'too-many' | 'too-many-columns' | 'broken'

export const columnsMax = 50
const recordCharactersMax = 20_000
/** Bytes that are read before other requests have their turn: 1 ms of work, or 50 ms if all rows are blank. */
const pieceBytes = 8192
/** Characters and records from which the delimiter is known. */
const sampleCharacters = 32_768
const sampleRecords = 50

const options = {
  ...{ relax_column_count: true, relax_quotes: true, bom: true },
  ...{ record_delimiter: ['\r\n', '\n', '\r'], max_record_size: recordCharactersMax },
}

/**
 * Returns the delimiter of a file: comma, semicolon or tab. It is the one by which most of the first rows have a
 * number, then the one by which most rows are equally wide, then the one that makes most columns.
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

/** The first rows; by plain lines where a quote is not closed, as in a field that the sample cuts. */
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

/** Reads the rows of a text, and gives other requests their turns. */
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
