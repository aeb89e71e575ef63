/** Repeatable random numbers: the same seed gives the same numbers. */
export interface Chance {
  /** Returns a whole number from 0 to n - 1. */
  below(n: number): number
  between(low: number, high: number): number
  one<T>(of: readonly T[]): T
  happens(probability: number): boolean
  shuffled<T>(of: readonly T[]): T[]
}

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  /** Mixes a counter in three rounds, which is random enough for choices. */
  function next(): number {
    state = (state + 0x9e3779b9) >>> 0
    let x = state
    x = Math.imul(x ^ (x >>> 16), 0x21f0aaad)
    x = Math.imul(x ^ (x >>> 15), 0x735a2d97)
    return ((x ^ (x >>> 15)) >>> 0) / 2 ** 32
  }
  const below = (n: number): number => Math.floor(next() * n)
  return {
    below,
    between: (low, high) => low + next() * (high - low),
    one: (of) => {
      const chosen = of[below(of.length)]
      if (chosen === undefined) throw new Error('there is nothing to choose from')
      return chosen
    },
    happens: (probability) => next() < probability,
    shuffled: (of) => {
      const rest = [...of]
      return of.flatMap(() => rest.splice(below(rest.length), 1))
    },
  }
}

/** True if this run plays all forms of the long tests at full length. */
export const runsEveryForm = process.env['TEST_EVERY'] === '1'

/** Returns the number of generated cases that this run checks: a third of `casesMax`, or all of them in a full run. */
export const casesOf = (casesMax: number): number => (runsEveryForm ? casesMax : Math.ceil(casesMax / 3))

let seed: number | undefined
let chance: Chance | undefined

/** Returns the seed of a test file from `testSeed()`, the same one at each call. */
export const sharedSeed = (): number => (seed ??= testSeed())

/** Returns the random numbers of a test file, seeded by `sharedSeed()`, the same ones at each call. */
export const testChance = (): Chance => (chance ??= chanceOf(sharedSeed()))

/**
 * Returns `TEST_SEED`, or else a random seed from 0 to 2^32 - 1, and prints it on one line of stderr. Throws if
 * `TEST_SEED` is anything else. The seed repeats the choices, but not the order in which concurrent work makes them.
 */
export function testSeed(): number {
  const text = process.env['TEST_SEED']
  const seed = text === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(text)
  if (text?.trim() === '' || !Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32) {
    throw new Error(`TEST_SEED is "${text ?? ''}": it must be a whole number from 0 to ${2 ** 32 - 1}`)
  }
  process.stderr.write(`TEST_SEED=${seed} makes the same random choices again\n`)
  return seed
}
