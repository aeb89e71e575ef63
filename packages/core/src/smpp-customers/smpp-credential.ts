import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import { mobileNumberLengths } from '../messages/calling-codes.ts'
import type { PasswordHash } from '../people/secrets.ts'
import type { Instant } from '../time/instant.ts'

/** Id of an SMPP credential for operators and account holders. It gives no access. */
export type SmppCredentialId = Brand<number, 'SmppCredentialId'>

export const smppCredentialId = (value: number): SmppCredentialId | undefined =>
  Number.isInteger(value) && value > 0 && value < 2 ** 31 ? (value as SmppCredentialId) : undefined

/** Alphabets that customers mean by data_coding 0 and by data_coding 1. */
export const alphabets0 = ['gsm', 'latin1', 'ascii'] as const
export const alphabets1 = ['ascii', 'gsm'] as const

export type Alphabet0 = (typeof alphabets0)[number]
export type Alphabet1 = (typeof alphabets1)[number]

/** Settings of a credential. */
export interface SmppSettings {
  /** Networks in CIDR form from which a client may bind; empty: any. */
  readonly from: readonly string[]
  /**
   * Maximum number of transmitting binds, and of receiving binds, over all processes. A transceiver counts as one of
   * each, so that the pair of a transmitter and a receiver counts as one bind.
   */
  readonly binds: number
  /** Maximum number of unanswered submissions of one bind. */
  readonly window: number
  /** Maximum number of submissions per second over all binds and processes. */
  readonly perSecond: number
  readonly alphabet0: Alphabet0
  readonly alphabet1: Alphabet1
  /** Calling code that completes numbers of TON national; undefined: such numbers are refused (ruling 5.6). */
  readonly country: string | undefined
  /** True if a repetition of a user_message_reference is answered with the first result. */
  readonly isIdempotent: boolean
  /** Offset from UTC of the dates in receipts, in minutes. */
  readonly receiptOffsetMinutes: number
}

export const smppDefaults: SmppSettings = {
  from: [],
  binds: 2,
  window: 10,
  perSecond: 50,
  alphabet0: 'gsm',
  alphabet1: 'ascii',
  country: undefined,
  isIdempotent: false,
  receiptOffsetMinutes: 0,
}

export interface SmppCredential extends SmppSettings {
  readonly id: SmppCredentialId
  readonly account: AccountId
  /** Name with which clients bind: 1 to 15 characters, unique in any letter case. */
  readonly systemId: string
  readonly created: Instant
  /** Time at which the password was last replaced. */
  readonly rotated: Instant | undefined
}

export interface NewSmppCredential extends SmppSettings {
  readonly account: AccountId
  readonly systemId: string
  readonly password: PasswordHash
}

/** Reason why settings are refused. */
export type SmppSettingsRefusal =
  | 'binds-out-of-range'
  | 'window-out-of-range'
  | 'rate-out-of-range'
  | 'unknown-country'
  | 'offset-out-of-range'
  | 'unknown-alphabet'

export const smppLimits = { binds: 1000, window: 1000, perSecond: 100_000, offsetMinutes: 14 * 60 } as const

const isWithin = (value: number, min: number, max: number): boolean =>
  Number.isInteger(value) && value >= min && value <= max

/** Returns why settings cannot be used, or undefined if they can. */
export function smppSettingsRefusal(settings: Partial<SmppSettings>): SmppSettingsRefusal | undefined {
  const { binds = 1, window = 1, perSecond = 1, country, receiptOffsetMinutes: offset = 0 } = { ...settings }
  const { alphabet0 = 'gsm', alphabet1 = 'ascii' } = settings
  if (!isWithin(binds, 1, smppLimits.binds)) return 'binds-out-of-range'
  if (!isWithin(window, 1, smppLimits.window)) return 'window-out-of-range'
  if (!isWithin(perSecond, 1, smppLimits.perSecond)) return 'rate-out-of-range'
  if (!alphabets0.includes(alphabet0) || !alphabets1.includes(alphabet1)) return 'unknown-alphabet'
  if (country !== undefined && !Object.hasOwn(mobileNumberLengths, country)) return 'unknown-country'
  return isWithin(offset, -smppLimits.offsetMinutes, smppLimits.offsetMinutes) ? undefined : 'offset-out-of-range'
}

/** Interface over which an account gets the messages of persons (ruling 5.7). Return-once calls always offer them. */
export const repliesByChoices = ['smpp', 'webhook', 'polling'] as const

/**
 * `smpp`: receiving binds. `webhook`: endpoints that subscribe to replies. `polling`: neither. An account without a
 * credential always has `webhook`.
 */
export type RepliesBy = (typeof repliesByChoices)[number]
