import type { Ports } from '../ports.ts'
import type { Account } from './account.ts'
import type { AccountWithBalance } from './accounts.ts'

/** The sub accounts of a main account, by id; a sub account has none (ruling 2.14). */
export const listSubAccounts =
  (ports: Pick<Ports, 'accounts'>) =>
  (account: Account): Promise<readonly AccountWithBalance[]> =>
    account.parent === undefined ? ports.accounts.subAccounts(account.id) : Promise.resolve([])
