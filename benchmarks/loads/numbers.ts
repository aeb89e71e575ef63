/** Characters of a number as the interfaces take it. */
export const numberLength = 11

const prefixes = Buffer.from('828384727374767879', 'latin1')
const all = 72_000_000
// Without a common factor with `all`: each number comes once before any comes again, in no order that an index would
// like.
const step = 7_368_787
const zero = 48

/** The n-th number: none comes twice in 72 million. */
export function numberAt(n: number): string {
  const digits = Buffer.alloc(numberLength)
  writeNumber(n, digits, 0)
  return digits.toString('latin1')
}

/**
 * Writes the n-th number: 27, one of nine prefixes, five digits, and two below 80, for which the simulated carrier just
 * delivers. Digit by digit: by strings it cost the generator more than all the rest of a request.
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
