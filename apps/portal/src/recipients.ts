import type { BulkRow } from '@gateway/core/bulk-sends'
import { readWrittenNumber } from '@gateway/core/messages'

/** Most numbers of which the cost is shown while they are typed. */
export const recipientsMax = 1000
/** So many numbers may be typed; more are read from a file. */
export const typedMax = 10_000
/** Characters that are kept of a number that cannot be read. */
const unreadCharactersMax = 100

/** Reads the number of a row; one that cannot be read stays as it is written, and the row is refused. */
export function rowOf(row: number, written: string, fields: readonly string[]): BulkRow {
  const read = readWrittenNumber(written)
  if (read.number !== undefined) return { row, number: read.number, fields, ...(read.changed && { changed: true }) }
  const number = Array.from(written.trim()).slice(0, unreadCharactersMax).join('')
  return { row, number, fields, refused: read.unread }
}

export interface Recipients {
  /** Each once, in the order in which they were given; those that cannot be read as they are written. */
  readonly numbers: readonly string[]
  /** The same as they are written, with those that were there several times. */
  readonly all: readonly string[]
  /** How many more times one of them was there. */
  readonly repeated: number
}

/** Numbers that were typed or pasted, one a line or with commas, semicolons or tabs between them. */
export function readRecipients(text: string): Recipients {
  const all = text
    .split(/[\n,;\t]+/)
    .map((written) => written.trim())
    .filter((written) => readWrittenNumber(written).unread !== 'no-number')
  const numbers = [...new Set(all.map((written) => rowOf(0, written, []).number))]
  return { numbers, all, repeated: all.length - numbers.length }
}
