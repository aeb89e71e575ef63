import { erasedNumber, formsOf, type Msisdn } from '@gateway/core'
import { storedEventsOf, type StoredEvents } from '../webhooks/stored-events.ts'

/** Patterns (LIKE) of stored events that may hold the number. */
export const patternsOf = (number: Msisdn): readonly string[] => formsOf(number).map((form) => `%"${form}"%`)

/**
 * Events of a list (JSON) without a number: what it wrote loses its text, and so does a message once none of its
 * numbers is left. Of what cannot be read the number is replaced wherever it is a value.
 */
export function eventsWithoutNumber(json: string, number: Msisdn): string {
  const forms = formsOf(number)
  const stored = storedEventsOf(JSON.parse(json))
  const text = stored.length === 0 ? json : JSON.stringify(stored.map((each) => withoutNumber(each, number, forms)))
  return forms.reduce((before, form) => before.replaceAll(`"${form}"`, `"${erasedNumber}"`), text)
}

function withoutNumber(stored: StoredEvents, number: Msisdn, forms: readonly string[]): StoredEvents {
  const { from, numbers, references, text } = stored
  const isFrom = from !== undefined && forms.includes(from)
  if (!isFrom && numbers?.includes(number) !== true) return stored
  const after = numbers?.map((each) => (each === number ? erasedNumber : each))
  const isEmpty = isFrom || after?.every((each) => each === erasedNumber) === true
  return {
    ...stored,
    ...(isFrom && { from: erasedNumber }),
    ...(isEmpty && text !== undefined && { text: '' }),
    ...(after !== undefined && { numbers: after }),
    ...(references && { references: references.map((each, i) => (after?.[i] === erasedNumber ? null : each)) }),
  }
}
