/**
 * Parses JSON. A whole number of 16 digits or more becomes a string, because a JavaScript number would change its last
 * digits, and ids must stay exact. Returns undefined for text that is not JSON.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(/\d{16}/.test(text) ? text.replace(tokens, quoteLongNumber) : text) as unknown
  } catch {
    return undefined
  }
}

/** Matches strings and numbers in JSON text. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

const quoteLongNumber = (token: string): string => (/^-?\d{16,}$/.test(token) ? `"${token}"` : token)

/** Returns the value at a JSON pointer (RFC 6901); undefined if there is none. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return value
}

/** Returns the text of a string, number or boolean; undefined for anything else. */
export const scalarText = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined

/** Returns the text of the first of these pointers at which there is a scalar that is not empty. */
export function textAt(document: unknown, pointers: string | readonly string[] | undefined): string | undefined {
  for (const pointer of listOf(pointers)) {
    const text = scalarText(valueAt(document, pointer))
    if (text !== undefined && text !== '') return text
  }
  return undefined
}

/** Returns a list as it is, one value as a list, and undefined as an empty list. */
export function listOf<Item extends string | number | boolean | object>(
  items: Item | readonly Item[] | undefined,
): readonly Item[] {
  if (items === undefined) return []
  return Array.isArray(items) ? (items as readonly Item[]) : [items as Item]
}
