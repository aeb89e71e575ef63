import type { AccountId } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import type { Credits } from './credits.ts'

/** The balance at this moment. Throws if the account is gone, which no operation of the gateway makes happen. */
export const creditBalance =
  (ports: Pick<Ports, 'ledger'>) =>
  async (id: AccountId): Promise<Credits> => {
    const balance = await ports.ledger.balance(id)
    if (balance === undefined) throw new Error(`account ${id} has no balance`)
    return balance
  }
