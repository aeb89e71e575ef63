import type { LoginFailures, OthersLoginFailures } from '@gateway/core'
import type { Context } from '../context.ts'
import { arrayOf, arrayOfTexts } from '../sql/arrays.ts'
import { exchangeLoginFailures } from '../sql/exchange-login-failures.ts'

/** One statement for each exchange, on an unlogged table: its commit waits for no disk. */
export const postgresLoginFailures = ({ pools: { hot } }: Context): LoginFailures => ({
  exchange: async (by, failed, seconds) => {
    const keys = arrayOfTexts(failed.map(({ key }) => key))
    const failures = arrayOf(failed.map((one) => one.failures))
    const others: OthersLoginFailures[][] = failed.map(() => [])
    for (const { place, ...told } of await hot.run(exchangeLoginFailures, [keys, failures, by, seconds]))
      others[place - 1]?.push(told)
    return others
  },
})
