import type { AccountId } from '../account/account.ts'
import { limits } from '../limits.ts'
import type { Ports } from '../ports.ts'
import type { Movement, Period } from './movement.ts'

/**
 * Every movement of the credits of an account, or of all one after the other, within the period, the oldest first, in pieces, all as of one moment. None for an
 * account that is not there.
 */
export const listMovements =
  (ports: Pick<Ports, 'ledger'>) =>
  (of: AccountId | 'all', period: Period = {}): AsyncIterable<readonly Movement[]> =>
    ports.ledger.movements(of, period, limits.statusDays)
