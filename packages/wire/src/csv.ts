export type Cell = string | number

/** Returns one record with its line break (RFC 4180), in which no spreadsheet takes a cell for a formula. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvField).join(',')}\r\n`

/**
 * Quotes a text that contains any delimiter of spreadsheets, so that a reader recognizes the comma as the delimiter.
 */
const csvField = (cell: Cell): string => {
  const text = typeof cell === 'number' ? String(cell) : guarded(cell)
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

// Spreadsheets take a text for a formula that begins with one of these, also where it has the fullwidth form. A quote
// before it makes it a text again; a text which looks so by itself gets one more, so that it can be taken away again.
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/

/** Plain numbers, such as negative amounts of credits, stay numbers. */
const plainNumber = /^-?[0-9]+(?:\.[0-9]+)?$/

/** Every text is guarded, whoever wrote it: a sender, a reason and a column's name come from people, too. */
const guarded = (text: string): string => (formula.test(text) && !plainNumber.test(text) ? `'${text}` : text)

/** Returns the text that was written so. */
export const unguarded = (text: string): string =>
  text.startsWith("'") && formula.test(text.slice(1)) ? text.slice(1) : text
