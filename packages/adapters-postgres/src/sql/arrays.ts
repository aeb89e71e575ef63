import type { Msisdn } from '@gateway/core/messages'
import { instant, type Instant } from '@gateway/core/time'

/**
 * Returns a time in milliseconds since 1970 as the text of a `timestamptz`. The last text is cached, because
 * consecutive calls mostly have the same time.
 */
export function timestamp(at: number): string {
  if (at !== lastTime.at) lastTime = { at, text: at < year1 ? inYear0(at) : new Date(at).toISOString() }
  return lastTime.text
}

const year1 = Date.parse('0001-01-01T00:00Z')
/** Formats a time in year 0, which PostgreSQL calls 1 BC. Gateway time begins two hours before the year 1. */
const inYear0 = (at: number): string => `${new Date(at).toISOString().replace('0000-', '0001-')} BC`

let lastTime = { at: NaN, text: '' }

declare const arrayText: unique symbol
/** Text of an array as PostgreSQL reads it, for a parameter. */
export type ArrayText = string & { readonly [arrayText]: true }

/** Formats an array of numbers, booleans, or texts that need no quotes because they are digits. */
export const arrayOf = (values: readonly (number | string | boolean)[]): ArrayText =>
  `{${values.join(',')}}` as ArrayText

/** Formats an array of numbers; undefined elements become null. */
export const arrayOfNullable = (values: readonly (number | string | null | undefined)[]): ArrayText =>
  arrayOf(values.map((value) => value ?? 'null'))

/** Formats an array of texts; undefined elements become null. No text may contain U+0000. */
export const arrayOfTexts = (values: readonly (string | null | undefined)[]): ArrayText => arrayOf(values.map(quoted))

function quoted(value: string | null | undefined): string {
  if (value == null) return 'null'
  return `"${/["\\]/.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`
}

/** Formats an array of times in milliseconds since 1970; undefined elements become null. */
export const arrayOfTimes = (times: readonly (number | null | undefined)[]): ArrayText =>
  arrayOf(times.map((time) => (time == null ? 'null' : `"${timestamp(time)}"`)))

declare const element: unique symbol
/** Text of an array as PostgreSQL writes it, with the type of its elements. */
export type WrittenArray<Element> = string & { readonly [element]: Element }

/**
 * Parses the text of a one-dimensional array of integers within ±2^53 without nulls. Returns no elements for null.
 * Parses digit by digit to avoid a string per element, because a status query has five such arrays of a thousand.
 */
export function fromArray<Element extends number>(text: WrittenArray<Element> | null): readonly Element[] {
  const numbers: number[] = []
  if (text === null || text === '{}') return []
  let sign = 1
  let value = 0
  for (let at = 1; at < text.length; at++) {
    const digit = text.charCodeAt(at) - zero
    if (digit >= 0 && digit <= 9) value = value * 10 + digit
    else if (digit === minus) sign = -1
    else {
      numbers.push(sign * value)
      sign = 1
      value = 0
    }
  }
  return numbers as Element[]
}

const zero = 48
/** Distance of the character code of '-' from that of '0'. */
const minus = 45 - zero

/**
 * Parses concatenated times as `timestamptz_send` writes them (microseconds since 2000, 8 bytes each) into milliseconds
 * since 1970. Returns no elements for null.
 */
export function fromTimes(bytes: Buffer | null): readonly Instant[] {
  return Array.from({ length: (bytes?.length ?? 0) / 8 }, (_, i) => {
    const microseconds = (bytes?.readInt32BE(8 * i) ?? NaN) * 2 ** 32 + (bytes?.readUInt32BE(8 * i + 4) ?? NaN)
    return instant(Math.floor(microseconds / 1000) + year2000)
  })
}

const year2000 = Date.UTC(2000, 0)

/** Parses the text of an array of phone numbers. */
export const numbersFromArray = (text: WrittenArray<Msisdn> | null): readonly Msisdn[] =>
  text === null || text === '{}' ? [] : (text.slice(1, -1).split(',') as Msisdn[])

/** Returns an element of one of several arrays of equal length. Throws if the array is shorter. */
export function elementAt<Element>(elements: readonly Element[], place: number): Element {
  const element = elements[place]
  if (element === undefined) throw new RangeError(`element ${place} is missing in an array of ${elements.length}`)
  return element
}

declare const valueById: unique symbol
/** Text of a JSON object by message id, with the type of its values. */
export type WrittenById<Value> = string & { readonly [valueById]: Value }

/** Parses the text of a JSON object by message id. Returns no values for null. */
export const fromJsonById = <Value>(json: WrittenById<Value> | null): ReadonlyMap<number, Value> =>
  new Map(Object.entries(JSON.parse(json ?? '{}') as Record<string, Value>).map(([id, value]) => [Number(id), value]))

/** Returns an SQL expression for a `timestamptz` in milliseconds since 1970, the unit of core's `Instant`. */
export const milliseconds = (time: string): string => `floor(extract(epoch from ${time}) * 1000)::bigint`

/**
 * Returns a copy of a row and empties the row. An object that has waited for a connection has moved to the old
 * generation of the heap; it would keep the row and its long texts alive until the next full garbage collection, 15 MB
 * a second where pages of a thousand are read (decision 0061).
 */
export function detachRow<Row extends object>(row: Row): Row {
  const values = { ...row }
  for (const name of Object.keys(row)) (row as Record<string, unknown>)[name] = undefined
  return values
}
