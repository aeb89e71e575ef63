import type { ParsedBody } from '@gateway/server'

/**
 * How many things of one kind a body is for: those that need this character each, which JSON has no other way to write. A text may have
 * more of it.
 */
export const countOf =
  (character: ',' | '{') =>
  (sent: string | ParsedBody): number => {
    const text = typeof sent === 'string' ? sent : written(sent.parsed)
    let count = 1
    for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count++
    return count
  }

/** What is nested too deep to be written is refused for its shape, which is no work. */
function written(parsed: unknown): string {
  try {
    return JSON.stringify(parsed)
  } catch {
    return ''
  }
}

/** Of an array of ids. */
export const idsIn = countOf(',')
/** Of recipients, an object each. */
export const recipientsIn = countOf('{')
