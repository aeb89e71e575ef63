import { sql } from './statement.ts'

/** Highest rank of a message that no carrier has refused: minus the least priority. */
export const freshRank = 0

/** Rank of a message that a carrier refused for now: behind everything else of its account in its lane. */
export const retriedRank = 1

/** Rank of what waits in `due`, by its priority and its attempt. */
export const rankOf = (priorityRank: string, attempt: string): string =>
  sql`case when ${attempt} > 0 then ${retriedRank} else ${priorityRank} end`
