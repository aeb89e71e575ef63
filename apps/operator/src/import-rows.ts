import { CsvError, readCsv, type CsvRecord } from './csv.ts'
import { interrupted, Refused, type Context } from './command.ts'
import { counted } from './show.ts'

/** The reason why a row cannot be stored, in words. */
export interface BadRow {
  readonly wrong: string
}

export interface ImportedRows {
  readonly rows: number
  readonly added: number
  readonly already: number
  readonly refused: number
  /** Number of rows whose number was corrected, for example by removing blanks. */
  readonly changed: number
  /** The first corrected numbers, at most `refusalsMax`. */
  readonly changes: readonly { readonly line: number; readonly written: string; readonly number: string }[]
  /** The first refused rows, at most `refusalsMax`. */
  readonly refusals: readonly { readonly line: number; readonly reason: string }[]
  /** Names in the first line of the file that are not names of a column. */
  readonly columnsNotRead: readonly string[]
}

/** Maximum number of refused rows, and of corrected numbers, that are reported one by one. */
export const refusalsMax = 1000
const batchRows = 5000

interface Import<Entry, Column extends string> {
  /** Path of the file, or `-` for standard input. */
  readonly file: string
  /** Columns in the order of a file whose first line does not name them. The first column is required. */
  readonly columns: readonly [Column, ...Column[]]
  readonly parse: (cells: Readonly<Record<Column, string | undefined>>) => Entry | BadRow
  /** Stores all entries or none, and returns how many were new. */
  readonly store: (entries: readonly Entry[]) => Promise<number>
}

interface NumberedEntry {
  readonly number: string
  /** The number as written in the row, if it was corrected. */
  readonly written?: string
}

/**
 * Reads a CSV file and stores its rows, some thousands at a time. Reports each row that cannot be stored with its line.
 * If an error occurs in the middle, its message states how many rows are stored. The first line names the columns if
 * its first field has no digit.
 */
export async function importRows<Entry extends NumberedEntry, Column extends string>(
  { input, output, interruption }: Pick<Context, 'input' | 'output' | 'interruption'>,
  { file, columns, parse, store }: Import<Entry, Column>,
): Promise<ImportedRows> {
  const sum = { rows: 0, added: 0, stored: 0, refused: 0, changed: 0 }
  const changes: { line: number; written: string; number: string }[] = []
  const refusals: { line: number; reason: string }[] = []
  let named: readonly string[] | undefined
  let columnsNotRead: readonly string[] = []
  let batch: Entry[] = []

  async function flush(): Promise<void> {
    if (batch.length === 0) return
    if (interruption.aborted) throw interrupted()
    sum.added += await store(batch)
    sum.stored += batch.length
    batch = []
    output.progress(`${sum.rows} rows, ${sum.added} added, ${sum.refused} refused`)
  }

  function addRow({ line, fields }: CsvRecord): void {
    const cells = Object.fromEntries(columns.map((name) => [name, fields[(named ?? columns).indexOf(name)]]))
    const entry = parse(cells as Record<Column, string | undefined>)
    sum.rows++
    if (!('wrong' in entry)) {
      batch.push(entry)
      const { written, number } = entry
      if (written !== undefined && ++sum.changed <= refusalsMax) changes.push({ line, written, number })
      return
    }
    sum.refused++
    if (refusals.length < refusalsMax) refusals.push({ line, reason: entry.wrong })
  }

  try {
    for await (const record of readCsv(input.text(file), columns[0])) {
      if (named === undefined) {
        named = namesOf(record, columns)
        if (named !== columns) {
          columnsNotRead = unreadNames(record, columns)
          continue
        }
      }
      addRow(record)
      if (batch.length === batchRows) await flush()
    }
    await flush()
  } catch (problem) {
    const why = problem instanceof CsvError ? `Line ${problem.line}: ${problem.message}.` : undefined
    if (why === undefined && !(problem instanceof Refused)) throw problem
    const message = why ?? (problem as Refused).message
    throw new Refused(
      sum.stored === 0
        ? message
        : `${message} ${counted(sum.stored, 'row')} before it ${sum.stored === 1 ? 'is' : 'are'} stored.`,
    )
  } finally {
    output.progress('')
  }
  const { rows, added, stored, refused, changed } = sum
  return { rows, added, already: stored - added, refused, refusals, changed, changes, columnsNotRead }
}

/** Returns the names of the columns in the first line, or the default names if that line is a row. */
function namesOf<Column extends string>(
  { fields }: CsvRecord,
  columns: readonly [Column, ...Column[]],
): readonly string[] {
  if (/[0-9]/.test(fields[0] ?? '')) return columns
  const names = fields.map((name) => name.trim().toLowerCase())
  if (!names.includes(columns[0])) throw new Refused(`The first line names no column '${columns[0]}'.`)
  return names
}

/** Returns the names in the first line, as written, that no column has. */
const unreadNames = ({ fields }: CsvRecord, columns: readonly string[]): readonly string[] =>
  fields.map((name) => name.trim()).filter((name) => name !== '' && !columns.includes(name.toLowerCase()))

const linesShown = 20

/** Prints the outcome of an import. Throws a Refused afterwards if a row was refused. */
export function printImport(
  output: Context['output'],
  about: { readonly [key: string]: string | number },
  imported: ImportedRows,
): void {
  const { rows, added, already, refused, refusals, changed, changes, columnsNotRead } = imported
  const unreadLines = columnsNotRead.length > 0 ? [`Columns that were not read: ${columnsNotRead.join(', ')}.`] : []
  const changedLines = changes
    .slice(0, linesShown)
    .map(({ line, written, number }) => `Line ${line}: “${written}” was read as ${number}.`)
  const moreChanged = changed > linesShown ? [`… and ${changed - linesShown} more numbers were corrected.`] : []
  const lines = refusals.slice(0, linesShown).map(({ line, reason }) => `Line ${line}: ${reason}.`)
  const more =
    refused > lines.length && lines.length > 0 ? [`… and ${refused - lines.length} more rows were refused.`] : []
  const sentence = `${counted(rows, 'row')}: ${added} added, ${already} there already, ${refused} refused.`
  output.result(
    {
      ...about,
      read: rows,
      added,
      already,
      refused,
      corrected: changed,
      corrections: changes.map(({ line, written, number }) => ({ line, typed: written, number })),
      refusals: refusals.map(({ line, reason }) => ({ line, why: reason })),
      columnsNotRead,
    },
    [...unreadLines, ...changedLines, ...moreChanged, ...lines, ...more, sentence].join('\n'),
  )
  if (refused > 0) throw new Refused(`${refused} of ${counted(rows, 'row')} ${refused === 1 ? 'was' : 'were'} refused.`)
}
