import { runsEveryForm, testChance } from '@gateway/core/testing'

export { runsEveryForm }

/**
 * Returns the forms of a long test that this run plays, for `describe.each` and `test.each`. With `TEST_EVERY=1` these
 * are all forms, and otherwise one form, which the seed of the run chooses.
 */
export const inTurn = <Case>(cases: readonly Case[]): readonly Case[] =>
  runsEveryForm ? cases : [testChance().one(cases)]
