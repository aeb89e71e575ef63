import { formatCredits } from '@gateway/core'
import { get, nothing } from '../../endpoint.ts'

/** getCreditBalance (spec 4.1). */
export const creditBalance = get(
  nothing,
  async ({ gateway, account }) => `"creditBalance":${formatCredits(await gateway.creditBalance(account.id))}`,
)
