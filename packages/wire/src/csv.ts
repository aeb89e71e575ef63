/** A cell: a text of somebody else's, or what is ours and safe: numbers, times, words. */
export type Cell = string | number | { readonly text: string }

/** One record with its line break (RFC 4180). */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvField).join(',')}\r\n`

const csvField = (cell: Cell): string => {
  const text = typeof cell === 'object' ? guarded(cell.text) : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

// Spreadsheets take a text for a formula that begins with one of these. A quote before it makes it a text again; that
// of a text which looks so by itself gets one more, so that it can be taken away again.
const formula = /^'*[=+\-@\t\r\n]/

/** A text that no spreadsheet takes for a formula. */
const guarded = (text: string): string => (formula.test(text) ? `'${text}` : text)

/** The text that was written so. */
export const unguarded = (text: string): string =>
  text.startsWith("'") && formula.test(text.slice(1)) ? text.slice(1) : text
