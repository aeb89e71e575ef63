import type { Brand } from '../brand.ts'

/** A moment as whole milliseconds since 1970-01-01T00:00Z. Its year in gateway time has four digits: 0001 to 9999. */
export type Instant = Brand<number, 'Instant'>

const earliest = Date.parse('0001-01-01T00:00:00.000+02:00')
const latest = Date.parse('9999-12-31T23:59:59.999+02:00')
const dayMilliseconds = 86_400_000

/** Throws a RangeError if `milliseconds` is not whole or its year is not 0001 to 9999. */
export function instant(milliseconds: number): Instant {
  if (Number.isInteger(milliseconds) && milliseconds >= earliest && milliseconds <= latest) {
    return (milliseconds + 0) as Instant // -0 becomes 0
  }
  throw new RangeError(`not an instant: ${milliseconds} ms`)
}

/** `seconds` may be negative or a fraction; it counts to the millisecond. Throws a RangeError past year 9999. */
export const secondsAfter = (at: Instant, seconds: number): Instant => instant(at + Math.round(seconds * 1000))

/** The same time of day `days` days earlier: gateway time has no summer time, so a day is always 24 hours. */
export const daysBefore = (at: Instant, days: number): Instant => instant(at - days * dayMilliseconds)

/** Where a use case gets the time from: once, at its start. May go backwards; nothing in core relies on it. */
export interface Clock {
  now(): Instant
}
