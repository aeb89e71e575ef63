import type { Account } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import type { OptOut } from './opt-out.ts'

/** All opt-outs of the account, however old; in pieces, by number as text (ruling 2.12). */
export const listOptOuts =
  (ports: Pick<Ports, 'suppressions'>) =>
  (account: Account): AsyncIterable<readonly OptOut[]> =>
    ports.suppressions.optOuts(account.id)
