import type { Brand } from '../brand.ts'

/** A moment as whole milliseconds since 1970-01-01T00:00Z. Its year in gateway time has four digits: 0001 to 9999. */
export type Instant = Brand<number, 'Instant'>

const earliest = Date.parse('0001-01-01T00:00:00.000+02:00')
const latest = Date.parse('9999-12-31T23:59:59.999+02:00')
const dayMilliseconds = 86_400_000

/**
 * Returns the instant; throws a RangeError if `milliseconds` is not a whole number or its year is not 0001 to 9999.
 */
export function instant(milliseconds: number): Instant {
  if (Number.isInteger(milliseconds) && milliseconds >= earliest && milliseconds <= latest) {
    return (milliseconds + 0) as Instant // -0 becomes 0
  }
  throw new RangeError(`not a valid instant: ${milliseconds} ms`)
}

/**
 * Returns the instant `seconds` later, rounded to a millisecond; `seconds` may be negative or a fraction. Throws a
 * RangeError beyond the year 9999.
 */
export const secondsAfter = (at: Instant, seconds: number): Instant => instant(at + Math.round(seconds * 1000))

/** Returns the same time of day `days` earlier. Gateway time has no summer time, so a day always has 24 hours. */
export const daysBefore = (at: Instant, days: number): Instant => instant(at - days * dayMilliseconds)

/**
 * Source of the current time, which a use case reads once at its start. May go backwards; core does not rely on it
 * being monotonic.
 */
export interface Clock {
  now(): Instant
}
