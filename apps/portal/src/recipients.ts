/** Most numbers of which the cost is shown while they are typed. */
export const recipientsMax = 1000
/** So many numbers may be typed; more are read from a file. */
export const typedMax = 10_000

/**
 * A number as people write it, in digits: without a plus, spaces, dashes, dots and brackets. What else it has stays.
 */
export const asNumber = (written: string): string =>
  written
    .trim()
    .replace(/^\+/, '')
    .replace(/[\s().\u00a0-]/g, '')

export interface Recipients {
  /** Each once, in the order in which they were given. */
  readonly numbers: readonly string[]
  /** The same with those that were there several times. */
  readonly all: readonly string[]
  /** How many more times one of them was there. */
  readonly repeated: number
}

/** Numbers that were typed or pasted, one a line or with commas, semicolons or tabs between them. */
export function readRecipients(text: string): Recipients {
  const given = text
    .split(/[\n,;\t]+/)
    .map(asNumber)
    .filter((number) => number !== '')
  const numbers = [...new Set(given)]
  return { numbers, all: given, repeated: given.length - numbers.length }
}
