/** Objects and arrays within each other. No request of the specification needs more than 4. */
export const nestingMax = 64

const [quote, backslash] = [0x22, 0x5c]
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * A linear look at what JSON.parse would take 300 ns a level for. 'too-deep': more than `nestingMax` deep, with as many
 * brackets closed as opened. 'malformed': they do not match. 'shallow' may be malformed in any other way.
 */
export function jsonNesting(json: string): 'shallow' | 'too-deep' | 'malformed' {
  /** What closes each level; of those beyond the bound nobody asks. */
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

/** Of the string that begins at `from`: where its last quote is, or the end of the text. */
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
/** Of more digits than this JSON.parse makes no number. */
const digitsMax = 300

/**
 * JSON.parse that reads a number which is not written as a whole one as `{ writtenAs }`: `1.0`, `1e3`, and
 * `1.00000000000000000001`, which would be rounded to 1. A whole number of any length is a number.
 */
export const parseWholeNumbers = (json: string): unknown => JSON.parse(json.replace(stringOrNumber, read))

function read(token: string): string {
  if (token.startsWith('"') || !jsonNumber.test(token)) return token
  if (!/^-?[0-9]+$/.test(token)) return `{"writtenAs":"${token}"}`
  return token.length > digitsMax && /^-?[1-9]/.test(token) ? `${token.slice(0, 2)}e${digitsMax}` : token
}
