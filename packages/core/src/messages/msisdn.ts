import type { Brand } from '../brand.ts'
import { mobileNumberLengths, trunkPrefixes } from './calling-codes.ts'

/** A possible mobile number: 7 to 15 ASCII digits, calling code first, no `+` (spec 2, ruling 1.8). */
export type Msisdn = Brand<string, 'Msisdn'>

/** Possible lengths of a number by its first three digits, which settle its calling code: bit n stands for n digits. */
const lengthsByStart = new Uint16Array(1000)
/** Calling code and national trunk prefix, such as `490`, by the first three digits of a number. */
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

/** Returns the first three digits of a number without a string for them, because each recipient is read twice. */
const startOf = (number: string): number =>
  number.charCodeAt(0) * 100 + number.charCodeAt(1) * 10 + number.charCodeAt(2) - 48 * 111

/** The country calling code of a number; those that share one have the same. */
export function callingCodeOf(number: Msisdn): string {
  for (let length = 1; length < 3; length++) {
    const code = number.slice(0, length)
    if (Object.hasOwn(mobileNumberLengths, code)) return code
  }
  return number.slice(0, 3)
}

/**
 * Reads a recipient's number, white space around it aside (ruling 1.8): digits only, a known calling code, a length
 * that a mobile number can have there, and no national trunk prefix after the calling code. Returns `undefined` for
 * everything else. `priceOf` says whether a price reaches the number.
 */
export function parseMsisdn(text: string): Msisdn | undefined {
  const number = parseStoredMsisdn(text)
  if (number === undefined) return undefined
  const trunks = trunksByStart[startOf(number)]
  return trunks?.some((trunk) => number.startsWith(trunk)) ? undefined : number
}

/**
 * Reads a number as `parseMsisdn` does, but accepts a national trunk prefix: earlier versions stored such numbers, and
 * they must still be found, erased and matched with their receipts.
 */
export function parseStoredMsisdn(text: string): Msisdn | undefined {
  const number = text.trim()
  if (!/^[1-9][0-9]{6,14}$/.test(number)) return undefined
  const lengths = lengthsByStart[startOf(number)] ?? 0
  return (lengths >> number.length) & 1 ? (number as Msisdn) : undefined
}

/**
 * An address that messages leave from and replies go to: a short or long code of an account, or a number of the
 * operator's pool.
 */
export type SenderAddress = Brand<string, 'SenderAddress'>

/** 3 to 15 digits, not with a leading zero, no `+`; white space around them aside. Undefined for everything else. */
export function parseSenderAddress(text: string): SenderAddress | undefined {
  const digits = text.trim()
  return /^[1-9][0-9]{2,14}$/.test(digits) ? (digits as SenderAddress) : undefined
}

/** The pool of an operator who names none: one number that no person has. */
export const defaultSenders: readonly SenderAddress[] = ['12025550100' as SenderAddress]
