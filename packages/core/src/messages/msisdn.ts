import type { Brand } from '../brand.ts'
import { mobileNumberLengths, trunkPrefixes } from './calling-codes.ts'

/** Possible mobile number: 7 to 15 ASCII digits, calling code first, without `+` (spec 2, ruling 1.8). */
export type Msisdn = Brand<string, 'Msisdn'>

/**
 * Possible lengths of a number, by its first three digits, which determine its calling code. The lengths are a bit set:
 * bit n is set if n digits are possible.
 */
const lengthsByStart = new Uint16Array(1000)
/** Calling codes followed by a national trunk prefix, such as `490`, by the first three digits of a number. */
const trunksByStart = new Array<readonly string[] | undefined>(1000)
for (const [code, lengths] of Object.entries(mobileNumberLengths)) {
  const width = 10 ** (3 - code.length)
  const [from, to] = [Number(code) * width, (Number(code) + 1) * width]
  const bits = lengths.reduce((sum, length) => sum | (1 << length), 0)
  lengthsByStart.fill(bits, from, to)
  trunksByStart.fill(
    trunkPrefixes[code]?.map((prefix) => code + prefix),
    from,
    to,
  )
}

/**
 * Returns the first three digits of a number as an integer. Does not create a string, because this runs twice for each
 * recipient.
 */
const startOf = (number: string): number =>
  number.charCodeAt(0) * 100 + number.charCodeAt(1) * 10 + number.charCodeAt(2) - 48 * 111

/** Returns the country calling code of a number. Countries that share a code are not distinguished. */
export function callingCodeOf(number: Msisdn): string {
  for (let length = 1; length < 3; length++) {
    const code = number.slice(0, length)
    if (Object.hasOwn(mobileNumberLengths, code)) return code
  }
  return number.slice(0, 3)
}

/** Country calling code with mobile numbers, such as `43`, without `+`. */
export type CallingCode = Brand<string, 'CallingCode'>

/** Parses a country calling code, with or without `+` or `00`. Returns undefined for any other text. */
export function parseCallingCode(text: string): CallingCode | undefined {
  const code = text.trim().replace(/^(?:\+|00)/, '')
  return Object.hasOwn(mobileNumberLengths, code) ? (code as CallingCode) : undefined
}

/**
 * Returns the mobile number for the digits that people dial inside the country of the calling code: `0660123456` is
 * 43660123456 in Austria. Returns undefined if they are not such a number, or if they are two of them.
 */
export function parseNational(digits: string, code: CallingCode): Msisdn | undefined {
  const trunk = trunkPrefixes[code]?.find((prefix) => digits.startsWith(prefix))
  const [bare, whole] = [trunk === undefined ? undefined : digits.slice(trunk.length), digits]
  const found = [bare, whole].flatMap((rest) => (rest === undefined ? [] : (parseMsisdn(code + rest) ?? [])))
  return found.length === 1 ? found[0] : undefined
}

/**
 * Parses a recipient's number and trims it (ruling 1.8): digits only, a known calling code, a length that mobile
 * numbers have there, and no national trunk prefix after the calling code. Returns `undefined` for any other text.
 * Whether the number has a price is the question of `priceOf`.
 */
export function parseMsisdn(text: string): Msisdn | undefined {
  const number = parseStoredMsisdn(text)
  if (number === undefined) return undefined
  const trunks = trunksByStart[startOf(number)]
  return trunks?.some((trunk) => number.startsWith(trunk)) ? undefined : number
}

/**
 * Parses a number as `parseMsisdn` does, but accepts a national trunk prefix. Earlier versions stored numbers with such
 * a prefix, and these must still be found, erased and matched with their receipts.
 */
export function parseStoredMsisdn(text: string): Msisdn | undefined {
  const number = text.trim()
  if (!/^[1-9][0-9]{6,14}$/.test(number)) return undefined
  const lengths = lengthsByStart[startOf(number)] ?? 0
  return (lengths >> number.length) & 1 ? (number as Msisdn) : undefined
}

/**
 * Address from which messages are sent and to which replies go: a short or long code of an account, or a number of the
 * operator's pool.
 */
export type SenderAddress = Brand<string, 'SenderAddress'>

/**
 * Parses an address and trims it: 3 to 15 digits, the first not 0, without `+`. Returns undefined for any other text.
 */
export function parseSenderAddress(text: string): SenderAddress | undefined {
  const digits = text.trim()
  return /^[1-9][0-9]{2,14}$/.test(digits) ? (digits as SenderAddress) : undefined
}

/** Pool of an operator who configures none: one number that belongs to nobody. */
export const defaultSenders: readonly SenderAddress[] = ['12025550100' as SenderAddress]
