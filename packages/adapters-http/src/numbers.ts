/**
 * Form in which a provider writes numbers: international digits, alone or after `+` or `00`, or `national`: numbers of
 * the provider's own country as they are dialled there.
 */
export type NumberForm = 'digits' | 'plus' | '00' | 'national'

interface NumberSettings {
  readonly numbers: NumberForm
  readonly country: string
  readonly trunkPrefix: string
}

/** Addresses with fewer digits are short codes, which belong to no country. */
const internationalDigitsMin = 9

/** Writes a recipient's number, given as international digits, in the form of the provider. */
export function writeRecipient(digits: string, { numbers, country, trunkPrefix }: NumberSettings): string {
  if (numbers === 'plus') return `+${digits}`
  if (numbers === '00') return `00${digits}`
  const isOfCountry = numbers === 'national' && digits.startsWith(country)
  return isOfCountry ? `${trunkPrefix}${digits.slice(country.length)}` : digits
}

/** Writes a sender address. Names, short codes, and numbers with a `+` stay as they are. */
export const writeSender = (address: string, settings: NumberSettings): string =>
  /^[0-9]+$/.test(address) && address.length >= internationalDigitsMin ? writeRecipient(address, settings) : address

/** Converts a number as a provider writes it to international digits. Returns any other address unchanged. */
export function readNumber(text: string, { numbers, country, trunkPrefix }: NumberSettings): string {
  const address = text.trim()
  if (!/^\+?[0-9]+$/.test(address)) return address
  if (address.startsWith('+')) return address.slice(1)
  if (/^00[1-9]/.test(address) && trunkPrefix !== '00') return address.slice(2)
  if (numbers !== 'national' || address.length < internationalDigitsMin) return address
  return address.startsWith(trunkPrefix) ? `${country}${address.slice(trunkPrefix.length)}` : address
}
