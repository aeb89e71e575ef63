import type { Ports } from '../ports.ts'
import type { AccountId } from './account.ts'

export const unlockAccount =
  (ports: Pick<Ports, 'accounts'>) =>
  async (id: AccountId): Promise<'unlocked' | 'no-such-account'> =>
    (await ports.accounts.setLocked(id, false)) ? 'unlocked' : 'no-such-account'
