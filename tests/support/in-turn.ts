import { testChance } from '@gateway/core/testing'

/**
 * For `describe.each` and `test.each`: what takes long over each of several carriers or layouts is run over one of
 * them, chosen by the seed of the run; over all of them with `TEST_EVERY=1`.
 */
export const inTurn = <Case>(cases: readonly Case[]): readonly Case[] =>
  process.env['TEST_EVERY'] === '1' ? cases : [testChance().one(cases)]
