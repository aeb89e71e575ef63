/** Maximum nesting of objects and arrays. Requests of the specification need at most 4. */
export const nestingMax = 64

const [quote, backslash] = [0x22, 0x5c]
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Scans the brackets of a text in linear time before JSON.parse, which takes 300 ns for each level. Returns 'malformed'
 * if the brackets do not match, 'too-deep' if they are nested more than `nestingMax` deep, and otherwise 'shallow',
 * even if the text is malformed in another way.
 */
export function jsonNesting(json: string): 'shallow' | 'too-deep' | 'malformed' {
  /** Closing bracket of each level up to the limit. */
  const closing = new Uint8Array(nestingMax)
  let depth = 0
  let deepest = 0
  for (let i = 0; i < json.length; i++) {
    const unit = json.charCodeAt(i)
    if (unit === quote) i = endOfString(json, i)
    else if (unit === openArray || unit === openObject) {
      if (depth < nestingMax) closing[depth] = unit + 2
      depth++
      if (depth > deepest) deepest = depth
    } else if (unit === closeArray || unit === closeObject) {
      depth--
      if (depth < 0 || (depth < nestingMax && closing[depth] !== unit)) return 'malformed'
    }
  }
  if (depth > 0) return 'malformed'
  return deepest > nestingMax ? 'too-deep' : 'shallow'
}

/** Returns the position of the closing quote of the string that begins at `from`, or the end of the text. */
function endOfString(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let escapes = 0
    while (json.charCodeAt(at - 1 - escapes) === backslash) escapes++
    if (escapes % 2 === 0) return at
  }
  return json.length
}

const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g
const jsonNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
/** Maximum number of digits of a whole number for which JSON.parse always returns a finite number. */
const digitsMax = 300

/**
 * Parses JSON like JSON.parse, except for numbers that are not written as whole numbers: they become `{ writtenAs }`.
 * Examples are `1.0`, `1e3`, and `1.00000000000000000001`, which JSON.parse would round to 1. A whole number of any
 * length stays a number.
 */
export const parseWholeNumbers = (json: string): unknown => JSON.parse(json.replace(stringOrNumber, read))

function read(token: string): string {
  if (token.startsWith('"') || !jsonNumber.test(token)) return token
  if (!/^-?[0-9]+$/.test(token)) return `{"writtenAs":"${token}"}`
  return token.length > digitsMax && /^-?[1-9]/.test(token) ? `${token.slice(0, 2)}e${digitsMax}` : token
}
