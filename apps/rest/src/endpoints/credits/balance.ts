import { formatCredits } from '@gateway/core/credits'
import { CreditsNumber, get, nothing, type Operation } from '../../operation.ts'

const operation: Operation = {
  id: 'getCreditBalance',
  tag: 'Credits',
  summary: 'Balance',
  description: 'The credits of the account.',
  answer: { creditBalance: CreditsNumber },
  examples: { balance: { answer: { creditBalance: 97 } } },
}

/** Operation getCreditBalance (spec 4.1). */
export const creditBalance = get(
  operation,
  nothing,
  async ({ gateway, account }) => `"creditBalance":${formatCredits(await gateway.queries.creditBalance(account.id))}`,
)
