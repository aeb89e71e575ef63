import type { Ports } from '../ports.ts'
import type { AccountId } from './account.ts'
import { isPassword } from './open-account.ts'

/** From the next request on, in any process within 5 seconds, only the new password is right. */
export const setPassword =
  (ports: Pick<Ports, 'accounts' | 'secrets'>) =>
  async (id: AccountId, password: string): Promise<'set' | 'no-such-account' | 'invalid-password'> => {
    if (!isPassword(password)) return 'invalid-password'
    const done = await ports.accounts.setPassword(id, await ports.secrets.hashPassword(password))
    return done ? 'set' : 'no-such-account'
  }
