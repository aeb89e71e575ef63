import { parseMinute, type Instant } from '@gateway/core'

/** The text of an optional field; undefined: null and a blank one count as left out (ruling 2.4). */
export const filled = (value: string | null | undefined): string | undefined =>
  value === null || value?.trim() === '' ? undefined : value

/** A time YYYYMMDDHHmm, which may be a number. */
export function readTime(value: string | number | null | undefined): Instant | undefined | 'malformed' {
  const text = filled(typeof value === 'number' ? String(value) : value)
  return text === undefined ? undefined : (parseMinute(text) ?? 'malformed')
}
