import type { Ports } from '../ports.ts'
import { accountId } from './account.ts'
import type { AccountWithBalance } from './accounts.ts'

/**
 * The account that an operator names by its login, in any letter case, or by its id in digits. A login may be digits too:
 * then the account with this id comes first.
 */
export const findAccount =
  (ports: Pick<Ports, 'accounts'>) =>
  async (name: string): Promise<AccountWithBalance | undefined> => {
    const id = /^[0-9]{1,10}$/.test(name) ? accountId(Number(name)) : undefined
    const found = id === undefined ? undefined : await ports.accounts.find(id)
    return found ?? findByLogin(ports)(name)
  }

/** The account with this login, in any letter case. */
export const findByLogin =
  (ports: Pick<Ports, 'accounts'>) =>
  async (login: string): Promise<AccountWithBalance | undefined> => {
    const named = await ports.accounts.byLogin(login)
    return named && ports.accounts.find(named.account.id)
  }
