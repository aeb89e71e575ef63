import type { Writable } from 'node:stream'

/** What a program can read. Amounts of credits are numbers with at most one decimal, times are ISO 8601 in UTC. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export interface Output {
  /** The result: JSON for a program, or the sentence or table for a person. */
  result(json: Json, text: string): void
  /** Rows as they come: a JSON array for a program, aligned columns for a person. Returns how many there were. */
  rows(head: readonly string[], rows: Rows): Promise<number>
  /** A line that is not the result, for a person only. */
  note(text: string): void
  /** Shows how far long work is, on a terminal and nowhere else. */
  progress(text: string): void
}

export interface Row {
  readonly json: Json
  readonly cells: readonly string[]
}

export type Rows = Iterable<Row> | AsyncIterable<Row>

interface Streams {
  readonly out: Writable
  readonly err: Writable & { readonly isTTY?: boolean }
}

/** Rows are aligned in pages, so that a long list starts at once and needs little memory. */
const pageRows = 500

export function createOutput({ out, err }: Streams, json: boolean): Output {
  const print = (text: string): void => void out.write(`${text}\n`)
  const clear = err.isTTY === true ? '\r\u001b[K' : ''

  async function jsonRows(rows: Rows): Promise<number> {
    let count = 0
    for await (const row of rows) print(`${count++ === 0 ? '[' : ','}${JSON.stringify(row.json)}`)
    print(count === 0 ? '[]' : ']')
    return count
  }

  async function textRows(head: readonly string[], rows: Rows): Promise<number> {
    let count = 0
    let page: (readonly string[])[] = [head]
    const printPage = (): void => {
      const widths = head.map((_, column) => Math.max(...page.map((cells) => cells[column]?.length ?? 0)))
      for (const cells of page)
        print(
          cells
            .map((cell, column) => cell.padEnd(widths[column] ?? 0))
            .join('  ')
            .trimEnd(),
        )
      page = []
    }
    for await (const row of rows) {
      count++
      if (page.push(row.cells) > pageRows) printPage()
    }
    if (page.length > 0) printPage()
    return count
  }

  return {
    result: (value, text) => print(json ? JSON.stringify(value) : text),
    rows: (head, rows) => (json ? jsonRows(rows) : textRows(head, rows)),
    note: (text) => {
      if (!json) err.write(`${clear}${text}\n`)
    },
    progress: (text) => {
      if (!json && err.isTTY === true) err.write(`${clear}${text}`)
    },
  }
}
