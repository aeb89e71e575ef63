const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g
const jsonNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
/** Of more digits than this JSON.parse makes no number. */
const digitsMax = 300

/**
 * Parses JSON with each number that is not written as a whole one read as `{ writtenAs }`: `1.0`, `1e3`, and `1.00000000000000000001`
 * too, which rounding would make a 1. Where money is counted, a number is what is written. A whole one of any length is a number, if
 * only a very large one. Throws where JSON.parse throws.
 */
export const parseWholeNumbers = (json: string): unknown => JSON.parse(json.replace(stringOrNumber, read))

function read(token: string): string {
  if (token.startsWith('"') || !jsonNumber.test(token)) return token
  if (!/^-?[0-9]+$/.test(token)) return `{"writtenAs":"${token}"}`
  return token.length > digitsMax && /^-?[1-9]/.test(token) ? `${token.slice(0, 2)}e${digitsMax}` : token
}
