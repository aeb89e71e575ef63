import {
  toldRatesMax,
  type AccountId,
  type AccountRates,
  type OverLimit,
  type RateLimits,
} from '@gateway/core/accounts'
import type { LoginFailures } from '@gateway/core/people'
import { LRUCache } from 'lru-cache'
import type { Context } from '../context.ts'
import { listAccountRates, reportAccountRates, takeRate, countLoginFailure } from '../sql/accounts.ts'
import type { ValuesOf } from '../sql/statement.ts'
import { RATED } from '../stored-codes.ts'

/** Accounts whose refusals are remembered. */
const refusedMax = 10_000

/**
 * One count for all processes, by the clock of the database. Each process asks for one account at one thing at a time,
 * and refuses by itself until there may be room again: who asks for far too much costs others no connection.
 */
export function postgresRateLimits({ pools: { hot } }: Context): RateLimits {
  /** The last of those that ask. */
  const asking = new Map<string, Promise<unknown>>()
  /** Until when, by performance.now(), not even one is taken. */
  const refusedUntil = new LRUCache<string, number>({ max: refusedMax })

  async function ask(key: string, values: ValuesOf<typeof takeRate>): Promise<'taken' | OverLimit> {
    const locally = (refusedUntil.get(key) ?? 0) - performance.now()
    if (locally > 0) return overLimit(locally / 1000)
    const [row] = await hot.failFast.run(takeRate, values)
    const wait = row?.wait ?? undefined
    if (wait === undefined) return 'taken'
    // Less may fit before all of this does.
    const { count, perSecond } = values
    const least = wait - Math.min(1, count / perSecond) + Math.min(1, 1 / perSecond)
    refusedUntil.set(key, performance.now() + least * 1000)
    return overLimit(wait)
  }

  return {
    take: (account: AccountId, what, count, perSecond) => {
      const key = `${account} ${what} ${perSecond}`
      const before = asking.get(key) ?? Promise.resolve()
      const values = { account, unit: RATED[what], count, perSecond }
      const result = before.then(
        () => ask(key, values),
        () => ask(key, values),
      )
      asking.set(key, result)
      const forget = () => {
        if (asking.get(key) === result) asking.delete(key)
      }
      result.then(forget, forget)
      return result
    },
  }
}

const overLimit = (seconds: number): OverLimit => ({ overLimitSeconds: Math.max(1, Math.ceil(seconds)) })

export const postgresAccountRates = ({ pools: { ordinary } }: Context): AccountRates => ({
  async tell(by, rates) {
    const told = rates.slice(0, toldRatesMax)
    await ordinary.run(reportAccountRates, {
      process: by,
      accounts: told.map(({ account }) => account),
      requests: told.map(({ requests }) => requests),
      messages: told.map(({ messages }) => messages),
    })
  },
  list: async (seconds) =>
    (await ordinary.run(listAccountRates, { seconds })).map((row) => ({ ...row, account: row.account as AccountId })),
})

/** One statement on an unlogged table: its commit waits for no disk. */
export const postgresLoginFailures = ({ pools: { hot } }: Context): LoginFailures => ({
  count: async (key, { failuresMax, seconds }) => {
    const [found] = await hot.run(countLoginFailure, { key, failuresMax, seconds })
    const earlier = found?.earlier ?? 0
    const firstEnds = Math.min(found?.seconds ?? seconds, seconds)
    if (earlier >= failuresMax) return { isWithinLimit: false, waitSeconds: found?.seconds ?? seconds }
    return { isWithinLimit: true, waitSeconds: earlier === failuresMax - 1 ? firstEnds : 0 }
  },
})
