import type { Instant } from './instant.ts'

/** Where a use case gets the time from: once, at its start. May go backwards; nothing in core relies on it. */
export interface Clock {
  now(): Instant
}
