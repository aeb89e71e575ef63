/**
 * Returns `count` different mobile numbers. Their last two digits are `ending`, which determines the outcome of a
 * message in the simulated carrier.
 */
export const numbersEnding = (count: number, ending = '01', from = 0): string[] =>
  Array.from({ length: count }, (_, at) => `2782${String(from + at).padStart(5, '0')}${ending}`)
