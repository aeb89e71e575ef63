/** A time, in milliseconds since 1970, as Postgres reads it. */
export const timestamp = (at: number): string => new Date(at).toISOString()

/** An array of numbers as Postgres reads it. Text that is known to be digits needs no quotes either. */
export const arrayOf = (values: readonly (number | string)[]): string => `{${values.join(',')}}`

/** An array of times, in milliseconds since 1970; undefined is null. */
export const arrayOfTimes = (times: readonly (number | undefined)[]): string =>
  arrayOf(times.map((time) => (time === undefined ? 'null' : `"${timestamp(time)}"`)))

/** The elements of a one-dimensional array of numbers, none of them null, as Postgres writes it; null has none. */
export const fromArray = (text: string | null): readonly number[] =>
  text === null || text === '{}' ? [] : text.slice(1, -1).split(',').map(Number)
