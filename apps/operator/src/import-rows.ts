import { CsvError, readCsv, type CsvRecord } from './csv.ts'
import { interrupted, Refused, type Context } from './command.ts'
import { counted } from './show.ts'

/** What is wrong with a row, in words. */
export interface BadRow {
  readonly wrong: string
}

export interface ImportedRows {
  readonly rows: number
  readonly added: number
  readonly already: number
  readonly refused: number
  /** Rows whose number was read otherwise than it is written. */
  readonly changed: number
  /** The first of them. */
  readonly changes: readonly { readonly line: number; readonly written: string; readonly number: string }[]
  /** The first of what was refused. */
  readonly refusals: readonly { readonly line: number; readonly reason: string }[]
}

/** So many refused rows are told one by one. */
export const refusalsMax = 1000
const batchRows = 5000

interface Import<Entry, Column extends string> {
  /** A path, or `-`. */
  readonly file: string
  /** In the order of a file that does not name them in its first line; the first one must be there. */
  readonly columns: readonly [Column, ...Column[]]
  readonly parse: (cells: Readonly<Record<Column, string | undefined>>) => Entry | BadRow
  /** Stores all or none, and returns how many were not there before. */
  readonly store: (entries: readonly Entry[]) => Promise<number>
}

interface NumberedEntry {
  readonly number: string
  /** The number as the row has it, if digits were left out. */
  readonly written?: string
}

/**
 * Reads a CSV file and stores its rows, some thousands at a time; a row that cannot be stored is noted with its line.
 * If it ends early, the error says how many rows are stored. A first line without a digit in its first field names the
 * columns.
 */
export async function importRows<Entry extends NumberedEntry, Column extends string>(
  { input, output, interruption }: Pick<Context, 'input' | 'output' | 'interruption'>,
  { file, columns, parse, store }: Import<Entry, Column>,
): Promise<ImportedRows> {
  const sum = { rows: 0, added: 0, stored: 0, refused: 0, changed: 0 }
  const changes: { line: number; written: string; number: string }[] = []
  const refusals: { line: number; reason: string }[] = []
  let named: readonly string[] | undefined
  let batch: Entry[] = []

  async function flush(): Promise<void> {
    if (batch.length === 0) return
    if (interruption.aborted) throw interrupted()
    sum.added += await store(batch)
    sum.stored += batch.length
    batch = []
    output.progress(`${sum.rows} rows, ${sum.added} added, ${sum.refused} refused`)
  }

  function take({ line, fields }: CsvRecord): void {
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
        if (named !== columns) continue
      }
      take(record)
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
  return { rows, added, already: stored - added, refused, refusals, changed, changes }
}

/** The names that the first line gives the columns; the usual ones, if it is a row already. */
function namesOf<Column extends string>(
  { fields }: CsvRecord,
  columns: readonly [Column, ...Column[]],
): readonly string[] {
  if (/[0-9]/.test(fields[0] ?? '')) return columns
  const names = fields.map((name) => name.trim().toLowerCase())
  if (!names.includes(columns[0])) throw new Refused(`The first line names no column '${columns[0]}'.`)
  return names
}

const linesShown = 20

/** Tells what was imported; refuses, after that, if a row was. */
export function tellImport(
  output: Context['output'],
  about: { readonly [key: string]: string | number },
  imported: ImportedRows,
): void {
  const { rows, added, already, refused, refusals, changed, changes } = imported
  const changedLines = changes
    .slice(0, linesShown)
    .map(({ line, written, number }) => `Line ${line}: “${written}” was read as ${number}.`)
  const moreChanged = changed > linesShown ? [`… and ${changed - linesShown} more numbers were read otherwise.`] : []
  const lines = refusals.slice(0, linesShown).map(({ line, reason }) => `Line ${line}: ${reason}.`)
  const more = refused > lines.length && lines.length > 0 ? [`… and ${refused - lines.length} more.`] : []
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
    },
    [...changedLines, ...moreChanged, ...lines, ...more, sentence].join('\n'),
  )
  if (refused > 0) throw new Refused(`${refused} of ${counted(rows, 'row')} ${refused === 1 ? 'was' : 'were'} refused.`)
}
