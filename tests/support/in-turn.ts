import { testChance } from '@gateway/core/testing'

/** True in a run of all forms at full length. */
export const runsEveryForm = process.env['TEST_EVERY'] === '1'

/**
 * Returns the forms of a long test that this run plays, for `describe.each` and `test.each`: all of them with
 * `TEST_EVERY=1`, else one, chosen by the seed of the run.
 */
export const inTurn = <Case>(cases: readonly Case[]): readonly Case[] =>
  runsEveryForm ? cases : [testChance().one(cases)]
