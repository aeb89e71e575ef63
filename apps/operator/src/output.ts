import type { Writable } from 'node:stream'
import { csvLine, type Cell } from '@gateway/wire'

/** A value for programs. Credits are numbers with at most one decimal, times are ISO 8601 in UTC. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export interface Output {
  /**
   * Prints the result of a change and is called once. A program gets the JSON, a person gets the sentence if there is
   * one.
   */
  result(json: Json, text?: string): void
  /**
   * Prints rows. A program gets `{"rows":[…],"total":…}`, where `total` is the number of rows. A person gets a table
   * (`laidOut`). Starts to print before all rows have arrived, and calls `after` after the last row. Cells that are too
   * wide for the terminal are cut, or continue on further lines (`folded`).
   */
  rows(head: readonly string[], rows: Rows, after?: () => After, long?: Long): Promise<void>
  /** Prints rows as they arrive, so that a person sees the text of each row at once. */
  stream(rows: AsyncIterable<{ readonly json: Json; readonly text: string }>, after?: () => After): Promise<void>
  /** Prints a single item. A program gets `{"rows":[…],"total":1}`, a person gets the text. */
  one(json: Json, text: string): void
  /** Prints everything at once. A program gets `rows` and the members of `beside`, a person gets the text. */
  all(rows: readonly Json[], text: string, beside?: After['json']): void
  /** Prints CSV (RFC 4180) with times and amounts as in JSON. Starts to print before all rows have arrived. */
  csv(head: readonly string[], rows: Iterable<CsvRow> | AsyncIterable<CsvRow>): Promise<void>
  /** Prints a part of the result as it arrives, for a person only. */
  line(text: string): void
  /** Prints a remark beside the result to standard error, for a person only. */
  readonly note: (text: string) => void
  /** Replaces the text on a terminal. Returns false without a terminal or with `--json`. */
  frame(text: (size: Size) => string): boolean
  /** Returns the stream for a binary result, or undefined if standard output is a terminal. */
  bytes(): Writable | undefined
  /** Shows the progress of long work, on a terminal only. An empty text removes it. */
  progress(text: string): void
  /** Shows on a terminal for how many seconds `work` has been running, starting after the first second. */
  during<Result>(text: string, work: Promise<Result>): Promise<Result>
}

/** Size of a terminal. An undefined member means that there is no limit. */
export interface Size {
  readonly columns?: number | undefined
  readonly lines?: number | undefined
}

export type Long = 'cut' | 'folded'

export interface Row {
  readonly json: Json
  readonly cells: readonly string[]
}

/** Output that follows the rows. */
export interface After {
  /**
   * Members of the JSON document besides `rows`. If only a page is printed, `total` here replaces the number of rows.
   */
  readonly json?: { readonly [name: string]: Json }
  /** Cells of the last line of the table, such as sums. */
  readonly cells?: readonly string[]
}

export type CsvRow = readonly Cell[]

export type Rows = Iterable<Row> | AsyncIterable<Row>

/** Yields the result of `map` for each item. */
export async function* mapped<From, To>(all: AsyncIterable<From>, map: (one: From) => To): AsyncIterable<To> {
  for await (const one of all) yield map(one)
}

/** Yields the items of all pieces one by one. */
export async function* each<One>(pieces: AsyncIterable<readonly One[]>): AsyncIterable<One> {
  for await (const piece of pieces) yield* piece
}

/** Characters that clear the line on which progress is shown. */
export const hideProgress = '\r\u001b[K'

const clearScreen = '\u001b[H\u001b[2J'

/** Rows of one page. Each page is aligned on its own, so that a long list starts at once and needs little memory. */
const pageRows = 500

/** Creates an output that writes results to `out` and remarks to `err`. Stops reading rows once `out` is closed. */
export function createOutput(out: Writer, err: Writer, json: boolean): Output {
  let shown = false
  const showsProgress = err.isTerminal && !json
  const progress = (text: string): void => {
    if (showsProgress && (shown || text !== '')) err.write(`${hideProgress}${printable(text)}`)
    shown = showsProgress && text !== ''
  }
  const write = (text: string): void => {
    progress('')
    out.write(`${text}\n`)
  }
  const print = (text: string): void => write(printableLines(text))
  const printJson = (text: string): void => write(escapedJson(text))

  /** Counts rows for the progress, which is not shown if the rows themselves go to the terminal. */
  async function* counted<Each>(rows: Iterable<Each> | AsyncIterable<Each>): AsyncIterable<Each> {
    let count = 0
    for await (const row of rows) {
      if (out.failure() !== undefined) return
      yield row
      if (++count % pageRows !== 0) continue
      if (!out.isTerminal) progress(`${count} rows`)
      // Wait for a slow reader, because unread output would fill the memory.
      await out.flush()
    }
    progress('')
  }

  return {
    result: (value, text) => {
      if (json) printJson(JSON.stringify(value))
      else if (text !== undefined) print(text)
    },
    rows: (head, rows, after, long = 'cut') =>
      json
        ? jsonRows(counted(rows), printJson, after)
        : textRows(head, followed(counted(rows), after), { print, width: out.width(), long }),
    stream: async (rows, after) => {
      if (json) return jsonRows(rows, printJson, after)
      for await (const { text } of rows) {
        if (out.failure() !== undefined) return
        print(text)
      }
    },
    one: (value, text) => (json ? printJson(JSON.stringify({ rows: [value], total: 1 })) : print(text)),
    all: (rows, text, beside) =>
      json ? printJson(JSON.stringify({ rows, total: rows.length, ...beside })) : print(text),
    csv: async (head, rows) => {
      // A file gets every character unchanged; a terminal gets no control characters.
      const line = (cells: CsvRow) =>
        out.isTerminal ? printableLines(csvLine(cells).replaceAll('\r\n', '\n')) : csvLine(cells)
      out.write(line(head))
      for await (const cells of counted(rows)) out.write(line(cells))
    },
    line: (text) => {
      if (!json) print(text)
    },
    frame: (text) => {
      if (json || !out.isTerminal || out.failure() !== undefined) return false
      out.write(`${clearScreen}${printableLines(text({ columns: out.width(), lines: out.height() }))}\n`)
      return true
    },
    note: (text) => {
      progress('')
      if (!json) err.write(`${printableLines(text)}\n`)
    },
    bytes: () => (out.isTerminal ? undefined : out.stream),
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

async function jsonRows(
  rows: AsyncIterable<Pick<Row, 'json'>>,
  print: (text: string) => void,
  after: (() => After) | undefined,
): Promise<void> {
  let total = 0
  for await (const row of rows) print(`${total++ === 0 ? '{"rows":[' : ','}${JSON.stringify(row.json)}`)
  const rest = JSON.stringify({ total, ...after?.().json })
  print(`${total === 0 ? '{"rows":[' : ''}],${rest.slice(1)}`)
}

async function* followed(rows: AsyncIterable<Row>, after?: () => After): AsyncIterable<Pick<Row, 'cells'>> {
  yield* rows
  const cells = after?.().cells
  if (cells !== undefined) yield { cells }
}

async function textRows(
  head: readonly string[],
  rows: AsyncIterable<Pick<Row, 'cells'>>,
  { print, width, long }: { print: (text: string) => void; width: number | undefined; long: Long },
): Promise<void> {
  let page: Cells[] = []
  let before: Layout | undefined
  const show = (): void => {
    const layout = before ?? layoutOf([head, ...page], width)
    if (layout === 'blocks') print(`${before === undefined ? '' : '\n'}${inBlocks(head, page)}`)
    else print(aligned(before === undefined ? [head, ...page] : page, width, long))
    before = layout
    page = []
  }
  for await (const { cells } of rows) {
    page.push(cells.map(printable))
    if (page.length === pageRows) show()
  }
  if (before === undefined || page.length > 0) show()
}

type Cells = readonly string[]
type Layout = 'columns' | 'blocks'

/** Minimum width of a column, in characters. A number or a time may not fit into a narrower column. */
const readableWidth = 20

/** Formats rows as columns under their head, or each row as a block of lines if the terminal is too narrow. */
export const laidOut = (head: Cells, rows: readonly Cells[], lineWidth: number | undefined): string =>
  layoutOf([head, ...rows], lineWidth) === 'columns' ? aligned([head, ...rows], lineWidth) : inBlocks(head, rows)

function layoutOf(page: readonly Cells[], lineWidth: number | undefined): Layout {
  const ideal = idealWidths(page)
  const isReadable = widthsWithin(ideal, lineWidth).every(
    (width, at) => width >= Math.min(ideal[at] ?? 0, readableWidth),
  )
  return isReadable || page.length === 1 ? 'columns' : 'blocks'
}

/** Formats each row as lines of `NAME  value`. Empty cells are omitted, and long values are not cut. */
function inBlocks(head: Cells, rows: readonly Cells[]): string {
  const width = Math.max(...head.map(columnsOf))
  return rows
    .map((cells) =>
      cells.flatMap((cell, at) => (cell === '' ? [] : [`${padded(head[at] ?? '', width)}${gap}${cell}`])).join('\n'),
    )
    .join('\n\n')
}

const idealWidths = (page: readonly Cells[]): readonly number[] =>
  (page[0] ?? []).map((_, column) => Math.max(...page.map((cells) => columnsOf(cells[column] ?? ''))))

const widthsWithin = (ideal: readonly number[], lineWidth: number | undefined): readonly number[] =>
  lineWidth === undefined ? ideal : narrowed(ideal, lineWidth - gap.length * (ideal.length - 1))

/** Formats rows as columns. A line is at most `lineWidth` characters wide. */
function aligned(page: readonly Cells[], lineWidth: number | undefined, long: Long = 'cut'): string {
  const widths = widthsWithin(idealWidths(page), lineWidth)
  const lines = long === 'cut' ? page : page.flatMap((cells) => foldedRow(cells, widths))
  return lines
    .map((cells) =>
      widths
        .map((width, column) => padded(cut(cells[column] ?? '', width), width))
        .join(gap)
        .trimEnd(),
    )
    .join('\n')
}

/** Divides a row into as many lines as its longest cell needs. */
function foldedRow(cells: Cells, widths: readonly number[]): readonly Cells[] {
  const folded = widths.map((width, column) => foldedTo(cells[column] ?? '', width))
  const lines = Math.max(...folded.map(({ length }) => length))
  return Array.from({ length: lines }, (_, line) => folded.map((cell) => cell[line] ?? ''))
}

/** Breaks a text between words, and inside a word only if the word is longer than a line. */
function foldedTo(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let rest = text
  while (columnsOf(rest) > width) {
    const fits = startOf(rest, width)
    const space = rest[fits.length] === ' ' ? fits.length : fits.lastIndexOf(' ')
    const end = space > 0 ? space : Math.max(1, fits.length)
    lines.push(rest.slice(0, end))
    rest = rest.slice(end).trimStart()
  }
  return [...lines, rest]
}

const gap = '  '

/** Narrows the widest columns until all columns fit into `room`. A column keeps at least one character. */
function narrowed(ideal: readonly number[], room: number): readonly number[] {
  let widest = Math.max(...ideal)
  const cutAt = (width: number): readonly number[] => ideal.map((one) => Math.min(one, width))
  const sum = (widths: readonly number[]): number => widths.reduce((all, one) => all + one, 0)
  while (widest > 1 && sum(cutAt(widest)) > room) widest--
  let spare = room - sum(cutAt(widest))
  return ideal.map((one) => (one > widest && spare > 0 ? (spare--, widest + 1) : Math.min(one, widest)))
}

const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - columnsOf(text)))

const cut = (text: string, width: number): string => (columnsOf(text) <= width ? text : `${startOf(text, width - 1)}…`)

/** Returns the beginning of a text that fits into `width` columns, without cutting a character in two. */
function startOf(text: string, width: number): string {
  let start = ''
  let columns = 0
  for (const character of text) {
    columns += columnsOf(character)
    if (columns > width) break
    start += character
  }
  return start
}

/** Characters that fill two columns of a terminal (East Asian characters and emoji). */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u
/** Characters that fill no column of a terminal (combining and format characters). */
const zeroWidth = /[\p{Mn}\p{Me}\p{Cf}]/u

function columnsOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let columns = 0
  for (const character of text) columns += wide.test(character) ? 2 : zeroWidth.test(character) ? 0 : 1
  return columns
}

/**
 * Characters of other people's texts that could control a terminal or deceive its reader: control characters (C0, C1,
 * and therefore escape sequences), bidirectional controls, zero-width and other invisible characters, line separators
 * and lone surrogates. The variation selectors U+FE0E and U+FE0F are invisible but harmless.
 */
const unsafe = /(?![\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu

const shownAs = (character: string): string =>
  /\p{Cc}/u.test(character) ? '?' : `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`

/** Replaces unsafe characters and line breaks by `?` or a form such as `<U+202E>`. */
export const printable = (text: string): string => text.replace(unsafe, shownAs)

/** Replaces unsafe characters like `printable`, but keeps line breaks. */
export const printableLines = (text: string): string =>
  text.replace(unsafe, (character) => (character === '\n' ? character : shownAs(character)))

/** Writes unsafe characters of a JSON document as escapes such as `\u202e`, so that programs read the same values. */
export const escapedJson = (document: string): string =>
  document.replace(unsafe, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )

/** Destination of text, which may be closed by its reader. */
export interface Writer {
  readonly stream: Writable
  readonly isTerminal: boolean
  /** Characters of a line of the terminal; undefined if the destination is not a terminal. */
  width(): number | undefined
  /** Lines of the terminal without the last one; undefined if the destination is not a terminal. */
  height(): number | undefined
  /** Writes a text, or nothing after a failure. */
  write(text: string): void
  /** Returns the error that ended writing, or undefined if texts can be written. */
  failure(): NodeJS.ErrnoException | undefined
  /** Waits until everything is written or writing has failed. */
  flush(): Promise<void>
}

/** Width of a terminal that does not report its own, in characters. */
const usualWidth = 80

export type Terminal = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }

export function writerTo(stream: Terminal): Writer {
  let failure: NodeJS.ErrnoException | undefined
  const failed = (problem: Error): void => void (failure ??= problem)
  stream.on('error', failed)
  const write = (text: string, done?: () => void): void => {
    try {
      // A write to a file throws here; a write to a pipe emits an error event later.
      stream.write(text, done)
    } catch (problem) {
      failed(problem as Error)
      done?.()
    }
  }
  return {
    stream,
    isTerminal: stream.isTTY === true,
    // A terminal reports a width of 0 before its size is known.
    width: () => (stream.isTTY === true ? (stream.columns ?? 0) || usualWidth : undefined),
    height: () => (stream.isTTY === true && (stream.rows ?? 0) > 1 ? (stream.rows ?? 0) - 1 : undefined),
    write: (text) => {
      if (failure === undefined) write(text)
    },
    failure: () => failure,
    flush: () => new Promise((resolve) => (failure === undefined ? write('', resolve) : resolve())),
  }
}
