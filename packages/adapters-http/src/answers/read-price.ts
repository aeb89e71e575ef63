import type { CarrierPrice } from '@gateway/core/messages'
import { textAt } from '../description/json.ts'
import type { Provider } from '../description/provider.ts'
import type { PricePlaces } from '../description/schema.ts'

/**
 * Reads what a provider charges for a message. Returns undefined if the amount or its currency is missing or malformed:
 * an amount has at most 15 digits before and 15 after the point.
 */
export function readPrice(
  places: PricePlaces | undefined,
  document: unknown,
  { patterns }: Provider,
  usualCurrency: string | undefined,
): CarrierPrice | undefined {
  if (places === undefined) return undefined
  const text = textAt(document, places.amount)
  if (text === undefined) return undefined
  const pattern = places.pattern === undefined ? undefined : patterns.get(places.pattern)
  const digits = pattern === undefined ? text : pattern.find(text, 'amount')
  const named = pattern?.groups.includes('currency') === true ? pattern.find(text, 'currency') : undefined
  const currency = named ?? textAt(document, places.currency) ?? usualCurrency
  const amount = digits === undefined ? undefined : decimalOf(digits, places.decimals ?? 0)
  if (amount === undefined || currency === undefined || !/^[A-Za-z]{3}$/.test(currency)) return undefined
  return { amount, currency: currency.toUpperCase() }
}

/**
 * Returns a decimal number without its sign, with the decimal point inserted before the last `decimals` digits. Returns
 * undefined for any other text.
 */
function decimalOf(text: string, decimals: number): string | undefined {
  const [, digits] = /^-?(\d{1,15}(?:\.\d{1,15})?)$/.exec(text.trim()) ?? []
  if (digits === undefined || decimals === 0) return digits
  if (digits.includes('.')) return undefined
  const padded = digits.padStart(decimals + 1, '0')
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`
}
