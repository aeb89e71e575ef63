import { sql } from './statement.ts'

/** Highest rank of a message that no carrier has refused: the negative of the lowest priority. */
export const freshRank = 0

/** Rank of a message that a carrier refused temporarily, behind all other messages of its account in its lane. */
export const retriedRank = 1

/**
 * Returns SQL for the rank of messages in the table `due`: `retriedRank` after a refusal, otherwise the rank of their
 * priority.
 */
export const rankOf = (priorityRank: string, attempt: string): string =>
  sql`case when ${attempt} > 0 then ${retriedRank} else ${priorityRank} end`
