import { assert, asyncProperty, type Arbitrary } from 'fast-check'
import { sharedSeed } from '../chance.ts'

/**
 * Checks so many generated cases one after the other, seeded as `testChance`, and ends at the first that fails: they share what they
 * are checked on.
 */
export const checkGenerated = <Case>(
  cases: Arbitrary<Case>,
  casesMax: number,
  check: (one: Case) => Promise<void>,
): Promise<void> => assert(asyncProperty(cases, check), { seed: sharedSeed(), numRuns: casesMax, endOnFailure: true })
