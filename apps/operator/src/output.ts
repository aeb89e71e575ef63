import type { Writable } from 'node:stream'
import { csvLine, type Cell } from '@gateway/wire'

/** What a program can read. Amounts of credits are numbers with at most one decimal, times are ISO 8601 in UTC. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export interface Output {
  /** What was done, once: JSON for a program, or the sentence for a person, who may have seen everything as it came. */
  result(json: Json, text?: string): void
  /**
   * What was asked for, as rows: `{"rows":[…],"total":…}` for a program, where `total` is how many rows there are;
   * a table for a person (`laidOut`). Begins before all rows are there; `after` is asked for after the last of them.
   * What a terminal has no room for is cut, or continues on further lines (`folded`).
   */
  rows(head: readonly string[], rows: Rows, after?: () => After, long?: Long): Promise<void>
  /** The same as it comes: a person reads the text of each at once. */
  stream(rows: AsyncIterable<{ readonly json: Json; readonly text: string }>, after?: () => After): Promise<void>
  /** What was asked for, if it is one thing: `{"rows":[…],"total":1}` for a program, the text for a person. */
  one(json: Json, text: string): void
  /** What was asked for, all at once: `rows` for a program, with what goes beside them, the text for a person. */
  all(rows: readonly Json[], text: string, beside?: After['json']): void
  /** The result as CSV (RFC 4180), its times and amounts as in JSON; begins before all rows are there. */
  csv(head: readonly string[], rows: Iterable<CsvRow> | AsyncIterable<CsvRow>): Promise<void>
  /** A part of the result as it comes, for a person only. */
  line(text: string): void
  /** What is worth knowing besides the result, for a person only. */
  readonly note: (text: string) => void
  /** Shows a text in place of the one before, on a terminal; false: there is none, or a program reads. */
  frame(text: (size: Size) => string): boolean
  /** For a result that is no text; undefined: a terminal reads, which cannot. */
  bytes(): Writable | undefined
  /** Shows how far long work is, on a terminal and nowhere else. */
  progress(text: string): void
  /** Shows how long `work` is at it, after its first second, on a terminal and nowhere else. */
  during<Result>(text: string, work: Promise<Result>): Promise<Result>
}

/** Of a terminal; undefined: it has no end. */
export interface Size {
  readonly columns?: number | undefined
  readonly lines?: number | undefined
}

export type Long = 'cut' | 'folded'

export interface Row {
  readonly json: Json
  readonly cells: readonly string[]
}

/** What follows rows. */
export interface After {
  /** Members of the document beside `rows`; a `total` of its own where not all rows are there. */
  readonly json?: { readonly [name: string]: Json }
  /** A last line of the table. */
  readonly cells?: readonly string[]
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

const clearScreen = '\u001b[H\u001b[2J'

/** Rows are aligned in pages, so that a long list starts at once and needs little memory. */
const pageRows = 500

/** The result goes to `out`, what accompanies it to `err`. Stops reading rows once nobody reads `out`. */
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
      // A file gets every character as it is stored, a terminal none that could steer it.
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

/** A column that is cut to less shows no whole number or time. */
const readableWidth = 20

/** Rows under their head as columns; where a terminal would leave too little of them, each as a block of lines. */
export const laidOut = (head: Cells, rows: readonly Cells[], lineWidth: number | undefined): string =>
  layoutOf([head, ...rows], lineWidth) === 'columns' ? aligned([head, ...rows], lineWidth) : inBlocks(head, rows)

function layoutOf(page: readonly Cells[], lineWidth: number | undefined): Layout {
  const wanted = wantedWidths(page)
  const isReadable = widthsWithin(wanted, lineWidth).every(
    (width, at) => width >= Math.min(wanted[at] ?? 0, readableWidth),
  )
  return isReadable || page.length === 1 ? 'columns' : 'blocks'
}

/** `NAME  value` for each column that has one, whole: a terminal breaks what is longer than its lines. */
function inBlocks(head: Cells, rows: readonly Cells[]): string {
  const width = Math.max(...head.map(columnsOf))
  return rows
    .map((cells) =>
      cells.flatMap((cell, at) => (cell === '' ? [] : [`${padded(head[at] ?? '', width)}${gap}${cell}`])).join('\n'),
    )
    .join('\n\n')
}

const wantedWidths = (page: readonly Cells[]): readonly number[] =>
  (page[0] ?? []).map((_, column) => Math.max(...page.map((cells) => columnsOf(cells[column] ?? ''))))

const widthsWithin = (wanted: readonly number[], lineWidth: number | undefined): readonly number[] =>
  lineWidth === undefined ? wanted : narrowed(wanted, lineWidth - gap.length * (wanted.length - 1))

/** The rows as columns; a line has at most `lineWidth` columns of a terminal. */
function aligned(page: readonly Cells[], lineWidth: number | undefined, long: Long = 'cut'): string {
  const widths = widthsWithin(wantedWidths(page), lineWidth)
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

/** As many lines as its longest cell needs. */
function foldedRow(cells: Cells, widths: readonly number[]): readonly Cells[] {
  const folded = widths.map((width, column) => foldedTo(cells[column] ?? '', width))
  const lines = Math.max(...folded.map(({ length }) => length))
  return Array.from({ length: lines }, (_, line) => folded.map((cell) => cell[line] ?? ''))
}

/** Broken between words; a word only where it is longer than a line. */
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

/** Takes from the widest columns until all of them have `room`; a column keeps at least one character. */
function narrowed(wanted: readonly number[], room: number): readonly number[] {
  let most = Math.max(...wanted)
  const cutAt = (width: number): readonly number[] => wanted.map((one) => Math.min(one, width))
  const sum = (widths: readonly number[]): number => widths.reduce((all, one) => all + one, 0)
  while (most > 1 && sum(cutAt(most)) > room) most--
  let left = room - sum(cutAt(most))
  return wanted.map((one) => (one > most && left > 0 ? (left--, most + 1) : Math.min(one, most)))
}

const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - columnsOf(text)))

const cut = (text: string, width: number): string => (columnsOf(text) <= width ? text : `${startOf(text, width - 1)}…`)

/** As many whole characters as fit. */
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

/** Characters that fill two columns of a terminal (East Asian, and pictures), and those that fill none. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u
const none = /[\p{Mn}\p{Me}\p{Cf}]/u

function columnsOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let columns = 0
  for (const character of text) columns += wide.test(character) ? 2 : none.test(character) ? 0 : 1
  return columns
}

/**
 * Characters of other people's texts that could steer a terminal or deceive its reader: control characters (C0, C1, and
 * so escape sequences), bidirectional controls, zero-width and other invisible characters, line separators, lone
 * surrogates. Of the invisible ones only the selectors between a text and a picture are harmless.
 */
const unsafe = /(?![\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu

const shownAs = (character: string): string =>
  /\p{Cc}/u.test(character) ? '?' : `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`

/** Returns a text of one line without characters that could steer or deceive: `?` or `<U+202E>` stands for each. */
export const printable = (text: string): string => text.replace(unsafe, shownAs)

/** The same for a text of several lines. */
export const printableLines = (text: string): string =>
  text.replace(unsafe, (character) => (character === '\n' ? character : shownAs(character)))

/** Writes such characters of a JSON document as `\u202e`: a program reads the same values. */
export const escapedJson = (document: string): string =>
  document.replace(unsafe, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )

/** Where text goes, until nobody reads it any more. */
export interface Writer {
  readonly stream: Writable
  readonly isTerminal: boolean
  /** How many characters a line of the terminal has; undefined: it is none, and lines may be as long as they are. */
  width(): number | undefined
  /** How many lines of it are shown, but the last. */
  height(): number | undefined
  /** After a failure nothing is written. */
  write(text: string): void
  /** Why nothing can be written any more; undefined: it can. */
  failure(): NodeJS.ErrnoException | undefined
  /** Waits until everything is written, or cannot be. */
  flush(): Promise<void>
}

/** Of a terminal that does not tell how wide it is. */
const usualWidth = 80

export type Terminal = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }

export function writerTo(stream: Terminal): Writer {
  let failure: NodeJS.ErrnoException | undefined
  const failed = (problem: Error): void => void (failure ??= problem)
  stream.on('error', failed)
  const write = (text: string, done?: () => void): void => {
    try {
      // What is written to a file fails here and now, a pipe tells it later.
      stream.write(text, done)
    } catch (problem) {
      failed(problem as Error)
      done?.()
    }
  }
  return {
    stream,
    isTerminal: stream.isTTY === true,
    // A width of 0 is told by terminals that have none yet.
    width: () => (stream.isTTY === true ? (stream.columns ?? 0) || usualWidth : undefined),
    height: () => (stream.isTTY === true && (stream.rows ?? 0) > 1 ? (stream.rows ?? 0) - 1 : undefined),
    write: (text) => {
      if (failure === undefined) write(text)
    },
    failure: () => failure,
    flush: () => new Promise((resolve) => (failure === undefined ? write('', resolve) : resolve())),
  }
}
