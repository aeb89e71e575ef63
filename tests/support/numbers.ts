/** So many mobile numbers whose last two digits are `ending` (by which the simulated carrier chooses their outcome). */
export const numbersEnding = (count: number, ending = '01', from = 0): string[] =>
  Array.from({ length: count }, (_, at) => `2782${String(from + at).padStart(5, '0')}${ending}`)
