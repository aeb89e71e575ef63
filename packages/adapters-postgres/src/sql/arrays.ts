/**
 * A time, in milliseconds since 1970, as Postgres reads it. Mostly it is that of the one before, which is not written
 * again.
 */
export function timestamp(at: number): string {
  if (at !== lastTime.at) lastTime = { at, text: at < year1 ? inYear0(at) : new Date(at).toISOString() }
  return lastTime.text
}

const year1 = Date.parse('0001-01-01T00:00Z')
/** The first two hours of gateway time, which Postgres calls the end of the year 1 BC. */
const inYear0 = (at: number): string => `${new Date(at).toISOString().replace('0000-', '0001-')} BC`

let lastTime = { at: NaN, text: '' }

declare const arrayText: unique symbol
/** An array as Postgres reads it. */
export type ArrayText = string & { readonly [arrayText]: true }

/** An array of numbers. Text that is known to be digits needs no quotes either. */
export const arrayOf = (values: readonly (number | string | boolean)[]): ArrayText =>
  `{${values.join(',')}}` as ArrayText

/** The same where some are undefined: null. */
export const arrayOfNullable = (values: readonly (number | string | null | undefined)[]): ArrayText =>
  arrayOf(values.map((value) => value ?? 'null'))

/** An array of any texts without U+0000; null where it is undefined or null. */
export const arrayOfTexts = (values: readonly (string | null | undefined)[]): ArrayText => arrayOf(values.map(quoted))

function quoted(value: string | null | undefined): string {
  if (value == null) return 'null'
  return `"${/["\\]/.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`
}

/** An array of times, in milliseconds since 1970; null where it is undefined or null. */
export const arrayOfTimes = (times: readonly (number | null | undefined)[]): ArrayText =>
  arrayOf(times.map((time) => (time == null ? 'null' : `"${timestamp(time)}"`)))

/**
 * The elements of a one-dimensional array of whole numbers within ±2^53, none of them null, as Postgres writes it; null
 * has none. Read digit by digit, without a text for each: a status query has five such arrays of a thousand.
 */
export function fromArray(text: string | null): readonly number[] {
  const numbers: number[] = []
  if (text === null || text === '{}') return numbers
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
  return numbers
}

const zero = 48
/** Of '-', seen from '0'. */
const minus = 45 - zero

/**
 * Milliseconds since 1970 of times one after the other as `timestamptz_send` writes them: microseconds since 2000, 8
 * bytes each; null has none.
 */
export function fromTimes(bytes: Buffer | null): readonly number[] {
  return Array.from({ length: (bytes?.length ?? 0) / 8 }, (_, i) => {
    const microseconds = (bytes?.readInt32BE(8 * i) ?? NaN) * 2 ** 32 + (bytes?.readUInt32BE(8 * i + 4) ?? NaN)
    return Math.floor(microseconds / 1000) + year2000
  })
}

const year2000 = Date.UTC(2000, 0)

/** The elements of an array of texts of digits, as Postgres writes it. */
export const textsFromArray = (text: string | null): readonly string[] =>
  text === null || text === '{}' ? [] : text.slice(1, -1).split(',')

/** An expression of SQL: a time in milliseconds since 1970, as an Instant is. */
export const milliseconds = (time: string): string => `floor(extract(epoch from ${time}) * 1000)::bigint`

/**
 * The values of a row, which has none afterwards. What has waited for a connection is old when its row comes, and would
 * keep the row and its long texts until the next full collection: 15 MB a second where pages of a thousand are read
 * (decision 0061).
 */
export function takenRow<Row extends object>(row: Row): Row {
  const values = { ...row }
  for (const name of Object.keys(row)) (row as Record<string, unknown>)[name] = undefined
  return values
}
