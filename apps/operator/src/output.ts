import { csvLine, type Cell } from './csv.ts'
import type { Writer } from './writer.ts'

/** What a program can read. Amounts of credits are numbers with at most one decimal, times are ISO 8601 in UTC. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export interface Output {
  /** The result, once: JSON for a program, or the sentence for a person, who may have seen everything as it came. */
  result(json: Json, text?: string): void
  /**
   * The result as rows: a JSON array for a program, aligned columns for a person; begins before all rows are there. With a
   * `total`, which is asked for after the last of them, the JSON is `{"rows":[…],"total":…}`; one without cells is for programs only.
   */
  rows(head: readonly string[], rows: Rows, total?: () => Row): Promise<void>
  /** The result as CSV (RFC 4180), its times and amounts as in JSON; begins before all rows are there. */
  csv(head: readonly string[], rows: Iterable<CsvRow> | AsyncIterable<CsvRow>): Promise<void>
  /** A part of the result as it comes, for a person only. */
  line(text: string): void
  /** What is worth knowing besides the result, for a person only. */
  readonly note: (text: string) => void
  /** Shows how far long work is, on a terminal and nowhere else. */
  progress(text: string): void
  /** Shows how long `work` is at it, after its first second, on a terminal and nowhere else. */
  during<Result>(text: string, work: Promise<Result>): Promise<Result>
}

export interface Row {
  readonly json: Json
  readonly cells: readonly string[]
}

export type CsvRow = readonly Cell[]

export type Rows = Iterable<Row> | AsyncIterable<Row>

/** What `map` makes of each. */
export async function* mapped<From, To>(all: AsyncIterable<From>, map: (one: From) => To): AsyncIterable<To> {
  for await (const one of all) yield map(one)
}

/** What comes in pieces, one by one. */
export async function* each<One>(pieces: AsyncIterable<readonly One[]>): AsyncIterable<One> {
  for await (const piece of pieces) yield* piece
}

/** Clears the line on which progress is shown. */
export const hideProgress = '\r\u001b[K'

/** Rows are aligned in pages, so that a long list starts at once and needs little memory. */
const pageRows = 500

/** The result goes to `out`, what accompanies it to `err`. Stops reading rows once nobody reads `out`. */
export function createOutput(out: Writer, err: Writer, json: boolean): Output {
  let shown = false
  const showsProgress = err.isTerminal && !json
  const progress = (text: string): void => {
    if (showsProgress && (shown || text !== '')) err.write(`${hideProgress}${text}`)
    shown = showsProgress && text !== ''
  }
  const print = (text: string): void => {
    progress('')
    out.write(`${text}\n`)
  }

  /** Rows that run by on the same terminal show by themselves how far they are. */
  async function* counted<Each>(rows: Iterable<Each> | AsyncIterable<Each>): AsyncIterable<Each> {
    let count = 0
    for await (const row of rows) {
      if (out.failure() !== undefined) return
      yield row
      if (++count % pageRows !== 0) continue
      if (!out.isTerminal) progress(`${count} rows`)
      // A slow reader is waited for: what it has not read yet would grow here.
      await out.flush()
    }
    progress('')
  }

  return {
    result: (value, text) => {
      if (json) print(JSON.stringify(value))
      else if (text !== undefined) print(text)
    },
    rows: (head, rows, total) =>
      json ? jsonRows(counted(rows), print, total) : textRows(head, followed(counted(rows), total), print),
    csv: async (head, rows) => {
      out.write(csvLine(head))
      for await (const cells of counted(rows)) out.write(csvLine(cells))
    },
    line: (text) => {
      if (!json) print(text)
    },
    note: (text) => {
      progress('')
      if (!json) err.write(`${text}\n`)
    },
    progress,
    during: async (text, work) => {
      const begin = performance.now()
      const timer = setInterval(() => {
        progress(`${text} … ${Math.round((performance.now() - begin) / 1000)} s`)
      }, 1000)
      try {
        return await work
      } finally {
        clearInterval(timer)
        progress('')
      }
    },
  }
}

async function jsonRows(rows: AsyncIterable<Row>, print: (text: string) => void, total?: () => Row): Promise<void> {
  const [before, after] =
    total === undefined ? ['', () => ''] : ['{"rows":', () => `,"total":${JSON.stringify(total().json)}}`]
  let begun = false
  for await (const row of rows) {
    print(`${begun ? ',' : `${before}[`}${JSON.stringify(row.json)}`)
    begun = true
  }
  print(`${begun ? ']' : `${before}[]`}${after()}`)
}

async function* followed(rows: AsyncIterable<Row>, last?: () => Row): AsyncIterable<Row> {
  yield* rows
  const total = last?.()
  if (total !== undefined && total.cells.length > 0) yield total
}

async function textRows(
  head: readonly string[],
  rows: AsyncIterable<Row>,
  print: (text: string) => void,
): Promise<void> {
  let page = [head]
  for await (const { cells } of rows) {
    page.push(cells.map(printable))
    if (page.length <= pageRows) continue
    print(aligned(page))
    page = []
  }
  if (page.length > 0) print(aligned(page))
}

function aligned(page: readonly (readonly string[])[]): string {
  const widths = (page[0] ?? []).map((_, column) => Math.max(...page.map((cells) => cells[column]?.length ?? 0)))
  return page
    .map((cells) =>
      widths
        .map((width, column) => (cells[column] ?? '').padEnd(width))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** What somebody else once typed cannot steer the terminal of who reads it. */
export const printable = (text: string): string => text.replace(/\p{Cc}/gu, '?')
