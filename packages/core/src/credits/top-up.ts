import type { AccountId } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import type { Credits } from './credits.ts'

/** Grants credits, or takes some back with a negative amount, and says why in the ledger; returns the new balance. */
export const topUp =
  (ports: Pick<Ports, 'ledger' | 'clock'>) =>
  async (
    id: AccountId,
    amount: Credits,
    why: string,
  ): Promise<Credits | 'no-such-account' | 'out-of-range' | 'no-reason' | 'no-amount'> => {
    if (why.trim() === '') return 'no-reason'
    if (amount === 0) return 'no-amount'
    return ports.ledger.topUp(id, amount, why.trim(), ports.clock.now())
  }
