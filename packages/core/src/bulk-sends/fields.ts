import type { BulkRow } from './bulk-sends.ts'

/**
 * Field in a text: `{name}` is replaced by the cell in the column of this name, in any letter case. `{name|customer}`
 * has a fallback, which replaces a blank cell.
 */
const fieldOfText = /\{([^{}\n]{1,100})\}/g

/** Returns the fields of a text as written between the braces, each once. */
export const fieldsOf = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(fieldOfText)].map(([, field = '']) => field)),
]

interface Field {
  /** Index of its column; -1 if there is none. */
  readonly column: number
  readonly name: string
  readonly fallback: string | undefined
}

/** Returns the field for the text between the braces. The name of a column may itself contain a bar. */
function readField(written: string, columns: readonly string[]): Field {
  const column = columns.indexOf(keyOf(written))
  const bar = written.indexOf('|')
  if (column >= 0 || bar < 0) return { column, name: written, fallback: undefined }
  const name = written.slice(0, bar)
  return { column: columns.indexOf(keyOf(name)), name, fallback: written.slice(bar + 1).trim() }
}

const keyOf = (name: string): string => name.trim().toLowerCase()

const readFields = (text: string, columns: readonly string[]): readonly Field[] => {
  const keys = columns.map(keyOf)
  return fieldsOf(text).map((written) => readField(written, keys))
}

/** Returns the fields in a text for which there is no column. Without columns a text has no fields (`fillIn`). */
export function fieldsMissing(text: string, columns: readonly string[]): readonly string[] {
  if (columns.length === 0) return []
  const missing = readFields(text, columns).filter(({ column }) => column < 0)
  return [...new Set(missing.map(({ name }) => name))]
}

const isBlank = (cell: string): boolean => cell.trim() === ''

/** Returns the text of a row. Without columns a text has no fields. */
export function fillIn(text: string, columns: readonly string[], { fields }: Pick<BulkRow, 'fields'>): string {
  if (columns.length === 0) return text
  const keys = columns.map(keyOf)
  return text.replace(fieldOfText, (whole, written: string) => {
    const { column, fallback } = readField(written, keys)
    if (column < 0) return whole
    const cell = fields[column] ?? ''
    return fallback !== undefined && isBlank(cell) ? fallback : cell
  })
}

/**
 * Returns a function that is true for a row in which a field of the text without a fallback is blank, so that nobody
 * receives "Dear , 6 is due".
 */
export function lacksValue(text: string, columns: readonly string[]): (row: Pick<BulkRow, 'fields'>) => boolean {
  const needed = readFields(text, columns).filter(({ column, fallback }) => column >= 0 && fallback === undefined)
  const places = [...new Set(needed.map(({ column }) => column))]
  return ({ fields }) => places.some((place) => isBlank(fields[place] ?? ''))
}
