import { testChance } from '@gateway/core/testing'

/** True if this run plays all forms of the long tests at full length. */
export const runsEveryForm = process.env['TEST_EVERY'] === '1'

/**
 * Returns the forms of a long test that this run plays, for `describe.each` and `test.each`. With `TEST_EVERY=1` these
 * are all forms, and otherwise one form, which the seed of the run chooses.
 */
export const inTurn = <Case>(cases: readonly Case[]): readonly Case[] =>
  runsEveryForm ? cases : [testChance().one(cases)]
