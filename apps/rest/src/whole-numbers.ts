const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g
const jsonNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
/** Of more digits than this JSON.parse makes no number. */
const digitsMax = 300

/**
 * JSON.parse that reads a number which is not written as a whole one as `{ writtenAs }`: `1.0`, `1e3`, and `1.00000000000000000001`,
 * which would be rounded to 1. A whole number of any length is a number.
 */
export const parseWholeNumbers = (json: string): unknown => JSON.parse(json.replace(stringOrNumber, read))

function read(token: string): string {
  if (token.startsWith('"') || !jsonNumber.test(token)) return token
  if (!/^-?[0-9]+$/.test(token)) return `{"writtenAs":"${token}"}`
  return token.length > digitsMax && /^-?[1-9]/.test(token) ? `${token.slice(0, 2)}e${digitsMax}` : token
}
