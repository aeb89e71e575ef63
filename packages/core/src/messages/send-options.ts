import type { Brand } from '../brand.ts'
import type { SmppOptions } from '../smpp-customers/smpp-options.ts'
import type { Instant } from '../time/instant.ts'

/**
 * Options of a send. An option that is omitted, 0 or false has no field, so that equal options are equal objects. Code
 * that does not apply an option passes on the whole object; only code that applies the option reads its field.
 */
export interface SendOptions {
  /** Minutes after the due time for which a message may wait; undefined: the setting of dispatchers (ruling 1.29). */
  readonly validity?: ValidityMinutes | undefined
  /** Rank among the waiting messages of the account; undefined: 0. */
  readonly priority?: Priority | undefined
  /** Class 0 of 3GPP TS 23.038: phones show the text at once and do not keep it. */
  readonly flash?: true | undefined
  /** Label that the customer gives to a send. Statements and reports can be grouped by it (ruling 1.30). */
  readonly category?: Category | undefined
  /** Origin of a message that a customer submitted over SMPP. Requests of other interfaces cannot set it. */
  readonly smpp?: SmppOptions | undefined
}

/** Name of an option that a request can set by a text. */
export type SendOptionName = Exclude<keyof SendOptions, 'smpp'>

/** Options that only label a message. They are returned in every list that contains the message. */
export type SendLabels = Omit<SendOptions, 'validity' | 'priority' | 'flash' | 'smpp'>

/** Options that stores keep as one value, because no statement decides by them. */
export type StoredOptions = Omit<SendOptions, 'validity' | 'priority' | 'flash'>

/** Options of a claimed message. The time of expiry takes the place of the validity. */
export type ClaimedOptions = Omit<SendOptions, 'validity'>

export const noOptions: SendOptions = {}

/** Returns the labels among the options; undefined if there are none. */
export function labelsOf(options: SendOptions): SendLabels | undefined {
  const { smpp: _smpp, ...labels } = storedOptionsOf(options) ?? {}
  return isEmpty(labels) ? undefined : labels
}

/** Returns the options that stores keep as one value; undefined if there are none. */
export function storedOptionsOf(options: SendOptions): StoredOptions | undefined {
  const { validity: _validity, priority: _priority, flash: _flash, ...stored } = options
  return isEmpty(stored) ? undefined : stored
}

const isEmpty = (options: object): boolean => Object.values(options).every((option) => option === undefined)

/** Minutes for which a message may wait, from 1 to `validityMinutesMax` (ruling 1.29). */
export type ValidityMinutes = Brand<number, 'ValidityMinutes'>

export const validityMinutesMax = 4320

/** Returns the validity; undefined unless it is a whole number from 1 to 4320. */
export const validityMinutes = (value: number): ValidityMinutes | undefined =>
  Number.isInteger(value) && value >= 1 && value <= validityMinutesMax ? (value as ValidityMinutes) : undefined

/** Order among the waiting messages of one account, highest first; priority_flag of SMPP 3.4 (5.2.14). */
export type Priority = 0 | 1 | 2 | 3

export const priorityMax = 3

/** Returns the priority; undefined unless it is one of 0 to 3. */
export const priorityOf = (value: number): Priority | undefined => ([0, 1, 2, 3] as const).find((is) => is === value)

/** Label of a send: 1 to `categoryCharactersMax` characters, none of them a control character (ruling 1.30). */
export type Category = Brand<string, 'Category'>

export const categoryCharactersMax = 32

/** Excludes control characters and lone surrogates. */
const usableCategory = new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${categoryCharactersMax}}$`, 'u')

type Read<Value> = Value | undefined | 'unusable'

/**
 * Parser of each option. The argument is trimmed and not blank. A parser returns undefined if the text means the same
 * as omitting the option. The order of this object is the order in the fingerprints of requests (ruling 1.24), so new
 * options must be added at the end.
 */
const readers: { readonly [Name in SendOptionName]-?: (text: string) => Read<SendOptions[Name]> } = {
  validity: (digits) => (/^0*[1-9][0-9]{0,3}$/.test(digits) && validityMinutes(Number(digits))) || 'unusable',
  priority: (digit) => {
    const priority = /^[0-9]$/.test(digit) ? priorityOf(Number(digit)) : undefined
    return priority === undefined ? 'unusable' : priority || undefined
  },
  flash: (word) => {
    if (/^(?:true|1)$/i.test(word)) return true
    return /^(?:false|0)$/i.test(word) ? undefined : 'unusable'
  },
  category: (label) => (usableCategory.test(label) ? (label as Category) : 'unusable'),
}

export const sendOptionNames = Object.keys(readers) as readonly SendOptionName[]

/** Parses one option. Returns undefined if the text is blank or means the same as omitting the option. */
export function readSendOption<Name extends SendOptionName>(
  name: Name,
  text: string | null | undefined,
): Read<SendOptions[Name]> {
  const trimmed = text?.trim() ?? ''
  return trimmed === '' ? undefined : (readers[name](trimmed) as Read<SendOptions[Name]>)
}

/** Parses all options of a send. Returns the first unusable one in the order of `sendOptionNames`. */
export function readSendOptions(
  textOf: (name: SendOptionName) => string | null | undefined,
): SendOptions | { readonly unusable: SendOptionName } {
  const options: Record<string, unknown> = {}
  for (const name of sendOptionNames) {
    const value = readSendOption(name, textOf(name))
    if (value === 'unusable') return { unusable: name }
    if (value !== undefined) options[name] = value
  }
  return options
}

/** Expiry of a waiting message. */
export interface Expiry {
  /** Time at which the message was first due. */
  readonly due: Instant
  /**
   * End of the message's own validity. If undefined, the message expires by the setting of dispatchers, counted from
   * `due` (ruling 1.13).
   */
  readonly expires?: Instant | undefined
}

export const isExpired = ({ due, expires }: Expiry, now: Instant, validitySeconds: number): boolean =>
  expires === undefined ? now - due > validitySeconds * 1000 : expires <= now
