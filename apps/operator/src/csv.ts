/** A record, and the line on which it begins, from 1. */
export interface CsvRecord {
  readonly line: number
  readonly fields: readonly string[]
}

/** More than any record of ours: beyond it a quote was never closed. */
export const recordCharactersMax = 65_536

export class CsvError extends Error {
  readonly line: number
  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/**
 * Reads the records of a CSV text (RFC 4180), which comes in any pieces. Lines end with CR LF, LF or CR; a byte order mark and
 * empty lines are passed over. Throws a CsvError for a quote that is never closed.
 */
export async function* readCsv(pieces: Iterable<string> | AsyncIterable<string>): AsyncIterable<CsvRecord> {
  let [line, begun, begins, length] = [1, false, 1, 0]
  let fields: string[] = []
  let field = ''
  /** Quoted: inside of quotes; closed: after the second one, which may be the first of two that stand for one. */
  let state: 'plain' | 'quoted' | 'closed' = 'plain'
  let afterReturn = false
  for await (const piece of pieces) {
    for (const character of begun || line > 1 ? piece : piece.replace(/^\uFEFF/, '')) {
      const isBreak = character === '\n' || character === '\r'
      const isSecond = character === '\n' && afterReturn
      afterReturn = character === '\r'
      if (isBreak && !isSecond) line++
      if (++length > recordCharactersMax)
        throw new CsvError(begins, 'this record is too long, or a quote is not closed')
      if (state === 'quoted') {
        if (character === '"') state = 'closed'
        else field += character
        continue
      }
      if (isSecond) {
        if (!begun) begins = line
        continue
      }
      if (character === '"' && (state === 'closed' || field === '')) {
        if (state === 'closed') field += '"'
        state = 'quoted'
        begun = true
      } else if (character === ',') {
        fields.push(field)
        ;[field, state, begun] = ['', 'plain', true]
      } else if (isBreak) {
        if (begun) yield { line: begins, fields: [...fields, field] }
        ;[fields, field, state, begun, begins, length] = [[], '', 'plain', false, line, 0]
      } else {
        field += character
        begun = true
      }
    }
  }
  if (state === 'quoted') throw new CsvError(begins, 'a quote is not closed')
  if (begun) yield { line: begins, fields: [...fields, field] }
}

/** A cell: a text of somebody else's, or what is ours and safe: numbers, times, words. */
export type Cell = string | number | { readonly text: string }

/** One record with its line break (RFC 4180). */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvField).join(',')}\r\n`

const csvField = (cell: Cell): string => {
  const text = typeof cell === 'object' ? guarded(cell.text) : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

// Spreadsheets take a text for a formula that begins with one of these. A quote before it makes it a text again; that of a
// text which looks so by itself gets one more, so that it can be taken away again.
const formula = /^'*[=+\-@\t\r\n]/

/** A text that no spreadsheet takes for a formula. */
const guarded = (text: string): string => (formula.test(text) ? `'${text}` : text)

/** The text that was written so. */
export const unguarded = (text: string): string =>
  text.startsWith("'") && formula.test(text.slice(1)) ? text.slice(1) : text
