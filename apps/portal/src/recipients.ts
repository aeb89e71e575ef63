/** So many numbers are sent to in one call; more are stored and sent in the background. */
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
  return { numbers, repeated: given.length - numbers.length }
}
