import { pipeline } from 'node:stream'
import { parse, CsvError as ParseError } from 'csv-parse'

/** A record and the line on which it begins, counted from 1. */
export interface CsvRecord {
  readonly line: number
  readonly fields: readonly string[]
}

/** Maximum bytes of a record. A longer record means that a quote was never closed. */
export const recordBytesMax = 65_536

export class CsvError extends Error {
  readonly line: number
  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

const WORDS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_MAX_RECORD_SIZE: 'this record is too long, or a quote is not closed',
}

/** Separators of fields. Spreadsheets write `;` in locales in which the comma is the decimal separator. */
const delimiters = [',', ';', '\t'] as const

/**
 * Finds the delimiter of a CSV text from its first line. Normally this is the first delimiter outside of quotes. If
 * only another delimiter yields a field named `column`, that one is used, because the line then names the columns.
 */
export function delimiterOf(line: string, column: string): string {
  const plain = line.replace(/"(?:[^"]|"")*"/g, (quoted) => quoted.replaceAll(/[,;\t]/g, ' '))
  const found = delimiters
    .filter((each) => plain.includes(each))
    .toSorted((one, other) => plain.indexOf(one) - plain.indexOf(other))
  const names = (delimiter: string) =>
    plain.split(delimiter).map((name) => name.replaceAll('"', '').trim().toLowerCase())
  return found.find((each) => names(each).includes(column)) ?? found[0] ?? ','
}

/** Reads until the first line that is not empty is complete. Returns that line and all pieces, including those read. */
async function peek(
  pieces: Iterable<string> | AsyncIterable<string>,
): Promise<{ readonly line: string; readonly all: AsyncIterable<string> }> {
  const iterator = (async function* () {
    yield* pieces
  })()
  let begin = ''
  const lineOf = () => /[^\r\n\uFEFF][^\r\n]*(?=[\r\n])/.exec(begin)?.[0]
  while (lineOf() === undefined && begin.length < recordBytesMax) {
    const { done, value } = await iterator.next()
    if (done === true) break
    begin += value
  }
  async function* all() {
    yield begin
    yield* iterator
  }
  return { line: lineOf() ?? begin, all: all() }
}

/**
 * Reads the records of a CSV text (RFC 4180) that arrives in pieces of any size. The first line determines the
 * delimiter (`delimiterOf`). Lines end with CR LF, LF or CR. Skips a byte order mark and empty lines. Throws a CsvError
 * for a quote that is never closed.
 */
export async function* readCsv(
  pieces: Iterable<string> | AsyncIterable<string>,
  column = 'number',
): AsyncIterable<CsvRecord> {
  const { line, all } = await peek(pieces)
  // The parser reports the line on which a record ends. It counts a CR LF inside quotes as two lines.
  let counted = 0
  let next = 1
  const parser = parse({
    delimiter: delimiterOf(line, column),
    ...{ bom: true, relax_column_count: true, relax_quotes: true, skip_empty_lines: true },
    ...{ record_delimiter: ['\r\n', '\n', '\r'], max_record_size: recordBytesMax },
    on_record(fields: readonly string[], { lines }) {
      const text = fields.join()
      counted += text.match(/\r\n/g)?.length ?? 0
      next = lines - counted + 1
      return [String(next - 1 - (text.match(/\r\n?|\n/g)?.length ?? 0)), ...fields]
    },
  })
  try {
    const records = pipeline(all, parser, () => undefined) as AsyncIterable<readonly string[]>
    for await (const [at, ...fields] of records) yield { line: Number(at), fields }
  } catch (problem) {
    const why = problem instanceof ParseError ? WORDS[problem.code] : undefined
    throw why === undefined ? problem : new CsvError(next, why)
  }
}
