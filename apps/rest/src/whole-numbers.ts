const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g

/**
 * Parses JSON with each number that is not written as a whole one read as null: `1.0`, `1e3`, and `1.00000000000000000001` too,
 * which rounding would make a 1. Where money is counted, a number is what is written. Throws where JSON.parse throws.
 */
export const parseWholeNumbers = (json: string): unknown =>
  JSON.parse(
    json.replace(stringOrNumber, (token) => (token.startsWith('"') || /^-?[0-9]+$/.test(token) ? token : 'null')),
  )
