import type { BulkRow } from '@gateway/core/bulk-sends'
import { readNumberIn, readWrittenNumber, type CallingCode } from '@gateway/core/messages'

/** Maximum number of recipients for which the cost is shown while typing. */
export const recipientsMax = 1000
/** Maximum number of typed recipients. Larger lists are uploaded as a file. */
export const typedMax = 10_000
/** Maximum number of characters to store of a number that cannot be read. */
const unreadCharactersMax = 100

/**
 * Reads the number of a row, in this country if it has no country code. If the number cannot be read, it stays as
 * written and the row is marked as refused.
 */
export function rowOf(
  row: number,
  written: string,
  fields: readonly string[],
  country: CallingCode | undefined,
): BulkRow {
  const read = readNumberIn(country, written)
  if (read.number !== undefined) return { row, number: read.number, fields, ...(read.changed && { changed: true }) }
  const number = Array.from(written.trim()).slice(0, unreadCharactersMax).join('')
  return { row, number, fields, refused: read.unread }
}

export interface Recipients {
  /** Distinct numbers in the order of the input. Numbers that cannot be read stay as written. */
  readonly numbers: readonly string[]
  /** All numbers as written, including repetitions. */
  readonly all: readonly string[]
  /** Number of repetitions that were dropped. */
  readonly repeated: number
}

/** Reads numbers that were typed or pasted, separated by line breaks, commas, semicolons or tabs. */
export function readRecipients(text: string, country: CallingCode | undefined): Recipients {
  const all = text
    .split(/[\n,;\t]+/)
    .map((written) => written.trim())
    .filter((written) => readWrittenNumber(written).unread !== 'no-number')
  const numbers = [...new Set(all.map((written) => rowOf(0, written, [], country).number))]
  return { numbers, all, repeated: all.length - numbers.length }
}
