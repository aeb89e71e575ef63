export type Cell = string | number

/**
 * Returns one record with its line break (RFC 4180). Guards texts so that spreadsheets do not read any cell as a
 * formula.
 */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvField).join(',')}\r\n`

/**
 * Quotes a text that contains a comma or another delimiter of spreadsheets, such as a semicolon, so that a program that
 * guesses the delimiter finds the comma.
 */
const csvField = (cell: Cell): string => {
  const text = typeof cell === 'number' ? String(cell) : guarded(cell)
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

// Matches texts that spreadsheets read as a formula: they begin with one of these signs, also in fullwidth form. A
// leading single quote prevents that. A text that already begins with quotes and a sign gets one more quote, so that
// `unguarded` can remove it.
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/

/** Matches plain numbers, such as negative amounts of credits. They are not guarded. */
const plainNumber = /^-?[0-9]+(?:\.[0-9]+)?$/

/**
 * Guards a text so that spreadsheets do not read it as a formula. Guards senders, reasons and column names as well as
 * message texts, because people also choose those.
 */
const guarded = (text: string): string => (formula.test(text) && !plainNumber.test(text) ? `'${text}` : text)

/** Removes the guard from a text. */
export const unguarded = (text: string): string =>
  text.startsWith("'") && formula.test(text.slice(1)) ? text.slice(1) : text
