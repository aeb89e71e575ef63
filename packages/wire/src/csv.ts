export type Cell = string | number

/** Returns one record with its line break (RFC 4180). Spreadsheets read no cell of it as a formula. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvField).join(',')}\r\n`

/**
 * Quotes a text that contains any delimiter of spreadsheets, so that a reader recognizes the comma as the delimiter.
 */
const csvField = (cell: Cell): string => {
  const text = typeof cell === 'number' ? String(cell) : guarded(cell)
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

// Spreadsheets read a text as a formula if it begins with one of these signs, also in fullwidth form. A quote in front
// prevents that. A text that already begins with a quote and a sign gets one more, so that `unguarded` can remove it.
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/

/** Matches plain numbers, such as negative amounts of credits, which stay numbers. */
const plainNumber = /^-?[0-9]+(?:\.[0-9]+)?$/

/**
 * Guards a text against being read as a formula. All texts are guarded, because senders, reasons and column names come
 * from people as well.
 */
const guarded = (text: string): string => (formula.test(text) && !plainNumber.test(text) ? `'${text}` : text)

/** Returns the text before it was guarded. */
export const unguarded = (text: string): string =>
  text.startsWith("'") && formula.test(text.slice(1)) ? text.slice(1) : text
