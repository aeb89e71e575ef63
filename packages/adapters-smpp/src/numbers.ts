import type { SmppSettings, TonNpi } from './settings.ts'

type NumberSettings = Pick<SmppSettings, 'numbers' | 'country' | 'trunkPrefix' | 'source' | 'destination'>
type End = 'source' | 'destination'

/** Addresses with fewer digits are short codes, which belong to no country. */
const internationalDigitsMin = 9

const isShortCode = (digits: string): boolean => digits.length < internationalDigitsMin

/** Returns true for an alphanumeric sender. */
const isName = (address: string): boolean => !/^[0-9]+$/.test(address)

/**
 * Writes international digits in the number form of the carrier. Returns an alphanumeric sender or short code
 * unchanged.
 */
export function writeNumber(digits: string, { numbers, country, trunkPrefix }: NumberSettings, end: End): string {
  if (end === 'source' && (isShortCode(digits) || isName(digits))) return digits
  if (numbers === 'plus') return `+${digits}`
  if (numbers === '00') return `00${digits}`
  const isOfCountry = numbers === 'national' && digits.startsWith(country)
  return isOfCountry ? `${trunkPrefix}${digits.slice(country.length)}` : digits
}

/**
 * Returns the type of number and numbering plan of an address (SMPP 3.4, 5.2.5 and 5.2.6). An alphanumeric sender
 * always has type 5 and plan 0. Any other address has the values that the operator set. If the operator set none, a
 * number is international (1) or national (2) in the plan E.164 (1), and a short code as sender is network specific (3)
 * with plan 0.
 */
export function tonNpiOf(digits: string, settings: NumberSettings, end: End): TonNpi {
  if (end === 'source' && isName(digits)) return { ton: 5, npi: 0 }
  const configured = settings[end]
  if (configured !== undefined) return configured
  if (end === 'source' && isShortCode(digits)) return { ton: 3, npi: 0 }
  const isNational = settings.numbers === 'national' && digits.startsWith(settings.country)
  return { ton: isNational ? 2 : 1, npi: 1 }
}

/** type_of_number of international digits (SMPP 3.4, 5.2.5). */
const international = 1

/** Converts a number as the carrier writes it to international digits. Returns any other address unchanged. */
export function readNumber(
  text: string,
  ton: number,
  { numbers: usual, country, trunkPrefix }: NumberSettings,
  numbers = usual,
): string {
  const address = text.trim()
  if (!/^\+?[0-9]+$/.test(address)) return address
  if (address.startsWith('+')) return address.slice(1)
  if (/^00[1-9]/.test(address) && trunkPrefix !== '00') return address.slice(2)
  if (numbers !== 'national' || ton === international || isShortCode(address)) return address
  if (trunkPrefix !== '' && address.startsWith(trunkPrefix)) return `${country}${address.slice(trunkPrefix.length)}`
  return trunkPrefix === '' ? `${country}${address}` : address
}
