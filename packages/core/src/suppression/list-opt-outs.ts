import type { Account } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import type { OptOut } from './opt-out.ts'

/** All opt-outs of the account, however old; read in pieces (ruling 2.12). */
export const listOptOuts =
  (ports: Pick<Ports, 'suppressions'>) =>
  (account: Account): AsyncIterable<OptOut> =>
    ports.suppressions.optOuts(account.id)
