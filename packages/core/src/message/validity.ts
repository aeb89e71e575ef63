import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'

/** For so many minutes after its due time a message may wait (ruling 1.29). */
export type ValidityMinutes = Brand<number, 'ValidityMinutes'>

export const validityMinutesMax = 4320

/** Undefined unless it is a whole number from 1 to 4320. */
export const validityMinutes = (value: number): ValidityMinutes | undefined =>
  Number.isInteger(value) && value >= 1 && value <= validityMinutesMax ? (value as ValidityMinutes) : undefined

/** A validity as text: digits. Undefined: none was given, or a blank one. */
export function readValidity(given: string | null | undefined): ValidityMinutes | undefined | 'unusable' {
  const digits = given?.trim() ?? ''
  if (digits === '') return undefined
  return (/^0*[1-9][0-9]{0,3}$/.test(digits) && validityMinutes(Number(digits))) || 'unusable'
}

/** When a message ends that waits still. */
export interface Expiry {
  /** When it first was due. */
  readonly due: Instant
  /** The end of a validity of its own; undefined: the setting counts, from `due` (ruling 1.13). */
  readonly expires?: Instant | undefined
}

export const isExpired = ({ due, expires }: Expiry, now: Instant, validitySeconds: number): boolean =>
  expires === undefined ? now - due > validitySeconds * 1000 : expires <= now
