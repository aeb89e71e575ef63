import {
  callingCodeOf,
  parseMsisdn,
  parseNational,
  parseStoredMsisdn,
  type CallingCode,
  type Msisdn,
} from './msisdn.ts'

/**
 * Reason why a written number cannot be read:
 *
 * - `no-number`: the text is blank.
 * - `scientific-notation`: a spreadsheet rounded it (`4.3660123456E+10`), so its digits are not certain.
 * - `national-number`: it begins with 0, so its country is not known.
 * - `uncertain-number`: its characters allow more than one reading, or none.
 * - `trunk-prefix`: the 0 of national calls stands after its calling code (`+27 082 …`, ruling 1.8).
 * - `invalid-number`: it has the form of a number, but mobile numbers do not have these digits (ruling 1.8).
 */
export type UnreadNumber =
  'no-number' | 'scientific-notation' | 'national-number' | 'trunk-prefix' | 'uncertain-number' | 'invalid-number'

/** `changed` is true if digits of the written form are not part of the number. The person must then see both. */
export type WrittenNumber =
  | { readonly number: Msisdn; readonly changed: boolean; readonly unread?: never }
  | { readonly unread: UnreadNumber; readonly number?: never; readonly changed?: never }

/** Maximum number of characters of a written number. */
const charactersMax = 100

/** Characters without width: direction marks and embeddings, joiners, soft hyphens, byte order marks. */
const invisible = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g
/** Forms that make a spreadsheet keep digits as text: `="27…"`, `"27…"` and `'27…`. */
const quoted = /^=?"([^"]*)"$/
const guarded = /^(?:'|=(?=[+0-9]))/
/** Hyphens and dashes, by which people group digits. */
const dashes = /[\u2010-\u2015\u2212]/g
const scientific = /^[+-]?[0-9]+(?:[.,][0-9]*)?e[+-]?[0-9]+$/i
/** Digits with spaces, dots, hyphens and brackets between them. */
const numeric = /^(?:\+ ?)?[0-9(][0-9 .()-]*$/

const unread = (reason: UnreadNumber): WrittenNumber => ({ unread: reason })

/**
 * Parses a mobile number with its country code as people and spreadsheets write it: with a plus sign or 00 before it,
 * and with spaces, hyphens, dots and brackets between its digits. Never adds, replaces or moves digits. Omits only the
 * `.0` of a spreadsheet, the `(0)` after a calling code, and the 00 before it; then `changed` is true.
 *
 * The wire interfaces use `parseMsisdn` alone.
 */
export function readWrittenNumber(written: string): WrittenNumber {
  if (written.length > charactersMax) return unread('uncertain-number')
  const text = bare(written)
  if (text === '') return unread('no-number')
  if (/[\r\n]/.test(written.trim())) return unread('uncertain-number')
  if (scientific.test(text)) return unread('scientific-notation')
  const whole = text.replace(/^([^.,]*)[.,]0$/, '$1')
  if (!/[0-9]/.test(text)) return unread('invalid-number')
  if (!isGrouped(whole) || isFraction(whole)) return unread('uncertain-number')
  const parts = /^([^(]*)\(0\)(.*)$/.exec(whole)
  const read = parts === null ? readDigits(whole) : withoutTrunk(parts[1] ?? '', parts[2] ?? '')
  return read.number === undefined ? read : { ...read, changed: read.changed || whole !== text }
}

/**
 * Same as `readWrittenNumber`, but reads a number without a country code, which begins with 0, as one of the country
 * with this calling code. Then `changed` is true.
 */
export function readNumberIn(code: CallingCode | undefined, written: string): WrittenNumber {
  const read = readWrittenNumber(written)
  if (code === undefined || read.unread !== 'national-number') return read
  const number = parseNational(bare(written).replace(/[^0-9]/g, ''), code)
  return number === undefined ? read : { number, changed: true }
}

/** Parses a number to search for. Also accepts a number that an earlier version stored with a trunk prefix. */
export function readSoughtNumber(written: string): WrittenNumber {
  const read = readWrittenNumber(written)
  if (read.unread !== 'invalid-number' && read.unread !== 'trunk-prefix') return read
  const number = parseStoredMsisdn(bare(written).replace(/[^0-9]/g, ''))
  return number === undefined ? read : { number, changed: false }
}

/** Removes invisible characters and a spreadsheet's quotes, and normalizes spaces and hyphens. */
function bare(written: string): string {
  const visible = written.replace(invisible, '').trim()
  const text = quoted.exec(visible)?.[1] ?? visible.replace(guarded, '')
  return text.replace(dashes, '-').replace(/\s+/g, ' ').trim()
}

const isGrouped = (text: string): boolean =>
  numeric.test(text) && /[0-9)]$/.test(text) && !/[()]/.test(text.replace(/\([0-9]+\)/g, ''))

/**
 * Returns true if the last group of digits may be an extension (`27820000001-2`) or decimals (`27820000001.5`, `27 820
 * 000 001.50`).
 */
function isFraction(text: string): boolean {
  return /[.-][0-9]$/.test(text) || /^[0-9]+\.[0-9]+$/.test(text) || /^[+0-9 ]+\.[0-9]{2}$/.test(text)
}

function readDigits(text: string): WrittenNumber {
  // If other digits stand in the brackets with a zero, as in +43 (0660) 123456, the zero may or may not belong to the
  // number.
  if (/\(0/.test(text)) return unread(text.startsWith('(0') ? 'national-number' : 'uncertain-number')
  const digits = text.replace(/[^0-9]/g, '')
  const isPrefixed = /^00 ?[1-9]/.test(text)
  if (digits.startsWith('0') && !isPrefixed) return unread(text.startsWith('+') ? 'invalid-number' : 'national-number')
  const number = parseMsisdn(isPrefixed ? digits.slice(2) : digits)
  if (number !== undefined) return { number, changed: isPrefixed }
  return unread(hasTrunkPrefix(isPrefixed ? digits.slice(2) : digits) ? 'trunk-prefix' : 'invalid-number')
}

/**
 * Returns true if a mobile number results when a 0 after the calling code is removed. The number is refused in any
 * case; this determines only the reason.
 */
function hasTrunkPrefix(digits: string): boolean {
  return [1, 2, 3].some((length) => {
    const number = digits[length] === '0' ? parseMsisdn(digits.slice(0, length) + digits.slice(length + 1)) : undefined
    return number !== undefined && callingCodeOf(number).length === length
  })
}

/**
 * Removes a `(0)` after the calling code. Does so only if the digits with this zero are not a mobile number as well.
 */
function withoutTrunk(before: string, after: string): WrittenNumber {
  if (before.trim() === '') return unread('national-number')
  const code = /^(?:\+ ?|00 ?)?\(?([1-9][0-9]{0,2})\)?[ .-]*$/.exec(before)?.[1]
  if (code === undefined || after.includes('(0')) return unread('uncertain-number')
  const read = readDigits(`+${code}${after}`)
  if (read.number === undefined) return read
  const isCertain = callingCodeOf(read.number) === code && readDigits(`+${code}0${after}`).number === undefined
  return isCertain ? { number: read.number, changed: true } : unread('uncertain-number')
}
