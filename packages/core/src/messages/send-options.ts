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

/** The order of what waits of one account: the higher ones go first. As priority_flag of SMPP (3.4, 5.2.14). */
export type Priority = 0 | 1 | 2 | 3

export const priorityMax = 3

/** Undefined unless it is one of 0 to 3. */
export const priorityOf = (value: number): Priority | undefined => ([0, 1, 2, 3] as const).find((is) => is === value)

/** A priority as text: a digit. Undefined: none was given, or a blank one. */
export function readPriority(given: string | null | undefined): Priority | undefined | 'unusable' {
  const digit = given?.trim() ?? ''
  if (digit === '') return undefined
  return (/^[0-9]$/.test(digit) ? priorityOf(Number(digit)) : undefined) ?? 'unusable'
}

/** A yes or no as text: true or 1, false or 0. Undefined: none was given, or a blank one. */
export function readFlash(given: string | null | undefined): boolean | undefined | 'unusable' {
  const word = given?.trim() ?? ''
  if (word === '') return undefined
  if (/^(?:true|1)$/i.test(word)) return true
  return /^(?:false|0)$/i.test(word) ? false : 'unusable'
}
