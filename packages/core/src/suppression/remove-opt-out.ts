import type { Account } from '../account/account.ts'
import type { Msisdn } from '../message/msisdn.ts'
import type { Ports } from '../ports.ts'

/** The account holder takes an opt-out back, whoever made it (ruling 1.22). False: there was none. */
export const removeOptOut =
  (ports: Pick<Ports, 'suppressions'>) =>
  (account: Account, number: Msisdn): Promise<boolean> =>
    ports.suppressions.remove({ scope: account.id, number, kind: 'opt-out' })
