import type { Msisdn } from '../message/msisdn.ts'
import type { Ports } from '../ports.ts'

/** The lists that the operator keeps for everybody. */
export type BlockReason = 'blacklist' | 'do-not-contact'

/** From now on messages to the number are refused; those that wait fail with code 214 when their turn comes, if it is the blacklist. */
export const blockNumber =
  (ports: Pick<Ports, 'suppressions' | 'clock'>) =>
  (number: Msisdn, reason: BlockReason): Promise<'added' | 'already'> =>
    ports.suppressions.add({ scope: 'everybody', number, kind: reason, since: ports.clock.now() })
