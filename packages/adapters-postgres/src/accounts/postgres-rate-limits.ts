import { reportedRatesMax, type AccountId, type AccountRates, type OverLimit } from '@gateway/core/accounts'
import { LRUCache } from 'lru-cache'
import type { Context } from '../context.ts'
import { listAccountRates, reportAccountRates, takeRate } from '../sql/accounts.ts'
import type { ValuesOf } from '../sql/statement.ts'
import { RATED } from '../stored-codes.ts'

/** Maximum number of cached refusals. */
const refusedMax = 10_000

/**
 * Creates rate limits that all processes share, by the clock of the database. For each account and unit, a process
 * sends one request at a time to the database. After a refusal, the process refuses requests itself until one can
 * succeed again, so that an account far over its limit does not use connections.
 */
export function postgresRateLimits({ pools: { hot } }: Context): Pick<AccountRates, 'take'> {
  /** Last pending request of each account and unit. */
  const lastRequests = new Map<string, Promise<unknown>>()
  /** Time by `performance.now()` until which not even one unit is available. */
  const refusedUntil = new LRUCache<string, number>({ max: refusedMax })

  async function ask(key: string, values: ValuesOf<typeof takeRate>): Promise<'taken' | OverLimit> {
    const locally = (refusedUntil.get(key) ?? 0) - performance.now()
    if (locally > 0) return overLimit(locally / 1000)
    const [row] = await hot.failFast.run(takeRate, values)
    const wait = row?.wait ?? undefined
    if (wait === undefined) return 'taken'
    // Stores the time until a request for one unit can succeed, because that may be earlier than for this request.
    const { count, perSecond } = values
    const waitForOne = wait - Math.min(1, count / perSecond) + Math.min(1, 1 / perSecond)
    refusedUntil.set(key, performance.now() + waitForOne * 1000)
    return overLimit(wait)
  }

  return {
    take: (account: AccountId, unit, count, perSecond) => {
      const key = `${account} ${unit} ${perSecond}`
      const before = lastRequests.get(key) ?? Promise.resolve()
      const values = { account, unit: RATED[unit], count, perSecond }
      const result = before.then(
        () => ask(key, values),
        () => ask(key, values),
      )
      lastRequests.set(key, result)
      const forget = () => {
        if (lastRequests.get(key) === result) lastRequests.delete(key)
      }
      result.then(forget, forget)
      return result
    },
  }
}

const overLimit = (seconds: number): OverLimit => ({ overLimitSeconds: Math.max(1, Math.ceil(seconds)) })

export const postgresAccountRates = ({ pools: { ordinary } }: Context): Pick<AccountRates, 'report' | 'list'> => ({
  async report(by, rates) {
    const reported = rates.slice(0, reportedRatesMax)
    await ordinary.run(reportAccountRates, {
      process: by,
      accounts: reported.map(({ account }) => account),
      requests: reported.map(({ requests }) => requests),
      messages: reported.map(({ messages }) => messages),
    })
  },
  list: (seconds) => ordinary.run(listAccountRates, { seconds }),
})
