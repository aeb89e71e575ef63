import type { Ports } from '../ports.ts'
import type { AccountId } from './account.ts'

/** A locked account keeps its rights to read; what it has waiting ends with code 202, refunded, when its turn comes (rulings 1.13, 1.14). */
export const lockAccount =
  (ports: Pick<Ports, 'accounts'>) =>
  async (id: AccountId): Promise<'locked' | 'no-such-account'> =>
    (await ports.accounts.setLocked(id, true)) ? 'locked' : 'no-such-account'

export const unlockAccount =
  (ports: Pick<Ports, 'accounts'>) =>
  async (id: AccountId): Promise<'unlocked' | 'no-such-account'> =>
    (await ports.accounts.setLocked(id, false)) ? 'unlocked' : 'no-such-account'
