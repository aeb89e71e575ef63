import { wholeCredits } from '@gateway/core/credits'
import type { Endpoint } from '../endpoint.ts'

/** Returns the balance in whole credits, rounded half up (spec 4.2; ruling 1.3). */
export const credits: Endpoint = {
  summary: 'Balance',
  takes: [],
  answers: ['Credits=<integer>'],
  wrongCredentials: 'Credits=FAIL',
  reads: true,
  slow: true,
  run: async ({ gateway, account }) => `Credits=${wholeCredits(await gateway.queries.creditBalance(account.id))}`,
}
