import { pipeline } from 'node:stream'
import { parse, CsvError as ParseError } from 'csv-parse'

/** A record, and the line on which it begins, from 1. */
export interface CsvRecord {
  readonly line: number
  readonly fields: readonly string[]
}

/** More than any record of ours: beyond it a quote was never closed. */
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

/**
 * Reads the records of a CSV text (RFC 4180), which comes in any pieces. Lines end with CR LF, LF or CR; a byte order
 * mark and empty lines are passed over. Throws a CsvError for a quote that is never closed.
 */
export async function* readCsv(pieces: Iterable<string> | AsyncIterable<string>): AsyncIterable<CsvRecord> {
  // The parser tells the last line of a record, and counts a CR LF in quotes as two.
  let counted = 0
  let next = 1
  const parser = parse({
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
    const records = pipeline(pieces, parser, () => undefined) as AsyncIterable<readonly string[]>
    for await (const [line, ...fields] of records) yield { line: Number(line), fields }
  } catch (problem) {
    const why = problem instanceof ParseError ? WORDS[problem.code] : undefined
    throw why === undefined ? problem : new CsvError(next, why)
  }
}
