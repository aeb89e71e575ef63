/** Length of a number as the interfaces accept it, in characters. */
export const numberLength = 11

const prefixes = Buffer.from('828384727374767879', 'latin1')
const all = 72_000_000
// Has no common factor with `all`, so that each number occurs once before any is repeated, in an order that is
// unfavourable for an index.
const step = 7_368_787
const zero = 48

/** Returns the n-th number. Numbers repeat after 72 million. */
export function numberAt(n: number): string {
  const digits = Buffer.alloc(numberLength)
  writeNumber(n, digits, 0)
  return digits.toString('latin1')
}

/**
 * Writes the n-th number: 27, one of nine prefixes, five digits, and two digits below 80, which the simulated carrier
 * delivers. It writes digit by digit, because strings cost the generator more than all the rest of a request.
 */
export function writeNumber(n: number, into: Buffer, at: number): void {
  const x = ((n * step) % all) | 0
  const prefix = (x / 8_000_000) | 0
  const rest = x - prefix * 8_000_000
  let middle = (rest / 80) | 0
  const end = rest - middle * 80
  into[at] = zero + 2
  into[at + 1] = zero + 7
  into[at + 2] = prefixes[prefix * 2] ?? 0
  into[at + 3] = prefixes[prefix * 2 + 1] ?? 0
  for (let place = at + 8; place > at + 3; place--) {
    const tenth = (middle / 10) | 0
    into[place] = zero + middle - tenth * 10
    middle = tenth
  }
  const tens = (end / 10) | 0
  into[at + 9] = zero + tens
  into[at + 10] = zero + end - tens * 10
}
