import type { SmppSettings, TonNpi } from './settings.ts'

type NumberSettings = Pick<SmppSettings, 'numbers' | 'country' | 'trunkPrefix' | 'source' | 'destination'>
type End = 'source' | 'destination'

/** Addresses with fewer digits are short codes, which have no country. */
const internationalDigitsMin = 9

const isShortCode = (digits: string): boolean => digits.length < internationalDigitsMin

/** Of a sender: letters are in it. */
const isName = (address: string): boolean => !/^[0-9]+$/.test(address)

/** International digits as the carrier writes them; a name as it is. */
export function writeNumber(digits: string, { numbers, country, trunkPrefix }: NumberSettings, end: End): string {
  if (end === 'source' && (isShortCode(digits) || isName(digits))) return digits
  if (numbers === 'plus') return `+${digits}`
  if (numbers === '00') return `00${digits}`
  const isOfCountry = numbers === 'national' && digits.startsWith(country)
  return isOfCountry ? `${trunkPrefix}${digits.slice(country.length)}` : digits
}

/**
 * A name is alphanumeric (5) in no numbering plan (0), whatever the settings. Digits are as the operator set it, else
 * by the address: international (1), or for short codes network specific (3); numbering plan E.164 (1) (SMPP 3.4, 5.2.5
 * and 5.2.6).
 */
export function tonNpiOf(digits: string, settings: NumberSettings, end: End): TonNpi {
  if (end === 'source' && isName(digits)) return { ton: 5, npi: 0 }
  const given = settings[end]
  if (given !== undefined) return given
  if (end === 'source' && isShortCode(digits)) return { ton: 3, npi: 0 }
  const isNational = settings.numbers === 'national' && digits.startsWith(settings.country)
  return { ton: isNational ? 2 : 1, npi: 1 }
}

const international = 1

/** An address of the carrier as international digits where it is a number; anything else as it is. */
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
