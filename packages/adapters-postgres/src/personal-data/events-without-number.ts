import { erasedNumber, formsOf, type Msisdn } from '@gateway/core'
import { storedEventsOf, type StoredEvents } from '../webhooks/stored-event.ts'

/** Patterns (LIKE) of stored events that may hold the number. */
export const patternsOf = (number: Msisdn): readonly string[] => formsOf(number).map((form) => `%"${form}"%`)

/**
 * Events of a batch or a list without a number: what it wrote loses its text, and so does a message once none of its numbers is left.
 * As many events as before, in their places, since lists are cut by places. Of what cannot be read the number is replaced wherever it is a value.
 */
export function eventsWithoutNumber(json: string, number: Msisdn): string {
  const forms = formsOf(number)
  const stored = storedEventsOf(json)
  const text = stored.length === 0 ? json : JSON.stringify(stored.map((each) => withoutNumber(each, number, forms)))
  return forms.reduce((before, form) => before.replaceAll(`"${form}"`, `"${erasedNumber}"`), text)
}

function withoutNumber(stored: StoredEvents, number: Msisdn, forms: readonly string[]): StoredEvents {
  const [
    type,
    sequence,
    at,
    code,
    send,
    price,
    hasReference,
    from,
    shortCode,
    answers,
    text,
    subjects,
    numbers,
    ...copy
  ] = stored
  const isFrom = from !== null && forms.includes(from)
  const after = numbers?.map((each) => (each === number ? erasedNumber : each)) ?? null
  const isChanged = isFrom || (numbers?.includes(number) ?? false)
  if (!isChanged) return stored
  const isEmpty = isFrom || after?.every((each) => each === erasedNumber) === true
  return [
    ...([type, sequence, at, code, send, price, hasReference] as const),
    ...([
      isFrom ? erasedNumber : from,
      shortCode,
      answers,
      isEmpty && text !== null ? '' : text,
      subjects,
      after,
    ] as const),
    ...copy,
  ]
}
