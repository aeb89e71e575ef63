import type { Ports } from '../ports.ts'
import { isLogin, type AccountId } from './account.ts'
import type { AccountChange, ChangeRefusal } from './accounts.ts'

/**
 * Changes what an account says of itself; what is not named stays as it is. It counts for what is accepted from then on,
 * and, as every change of an account, within 5 seconds in every process. Nothing named changes nothing.
 */
export const changeAccount =
  (ports: Pick<Ports, 'accounts'>) =>
  async (id: AccountId, change: AccountChange): Promise<'changed' | ChangeRefusal | 'invalid-login'> =>
    change.login !== undefined && !isLogin(change.login) ? 'invalid-login' : ports.accounts.change(id, change)
