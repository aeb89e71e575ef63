import type { LoginFailures } from '@gateway/core/people'
import type { Context } from '../context.ts'
import { countLoginFailure } from '../sql/accounts.ts'

/** Counts failed log-ins in an unlogged table, so that the commit does not wait for the disk. */
export const postgresLoginFailures = ({ pools: { hot } }: Context): LoginFailures => ({
  count: async (key, { failuresMax, seconds }) => {
    const [found] = await hot.run(countLoginFailure, { key, failuresMax, seconds })
    const earlier = found?.earlier ?? 0
    const firstEnds = Math.min(found?.seconds ?? seconds, seconds)
    if (earlier >= failuresMax) return { isWithinLimit: false, waitSeconds: found?.seconds ?? seconds }
    return { isWithinLimit: true, waitSeconds: earlier === failuresMax - 1 ? firstEnds : 0 }
  },
})
