import type { Msisdn } from '../message/msisdn.ts'
import type { Ports } from '../ports.ts'
import type { BlockReason } from './block-number.ts'

/** Takes the number off one of the operator's lists, or off both; returns the lists on which it was. */
export const unblockNumber =
  (ports: Pick<Ports, 'suppressions'>) =>
  async (number: Msisdn, reasons: readonly BlockReason[]): Promise<readonly BlockReason[]> => {
    const removed = await Promise.all(
      reasons.map((kind) => ports.suppressions.remove({ scope: 'everybody', number, kind })),
    )
    return reasons.filter((_, at) => removed[at])
  }
