import type { Account } from '../account/account.ts'
import type { Msisdn } from '../message/msisdn.ts'
import type { Ports } from '../ports.ts'

/** The account holder opts a number out; nothing is sent to confirm it (ruling 1.23). One that is there stays as it is. */
export const addOptOut =
  (ports: Pick<Ports, 'suppressions' | 'clock'>) =>
  (account: Account, number: Msisdn): Promise<'added' | 'already'> =>
    ports.suppressions.add({ scope: account.id, number, kind: 'opt-out', since: ports.clock.now() })
