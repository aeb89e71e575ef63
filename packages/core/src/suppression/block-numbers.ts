import type { Msisdn } from '../message/msisdn.ts'
import type { Ports } from '../ports.ts'
import type { BlockReason } from './block-number.ts'

/** As blocking each of them. Those that are on the list already stay as they are; returns how many were not. All or none. */
export const blockNumbers =
  (ports: Pick<Ports, 'suppressions' | 'clock'>) =>
  (numbers: readonly Msisdn[], reason: BlockReason): Promise<number> => {
    const since = ports.clock.now()
    return ports.suppressions.addAll(
      'everybody',
      reason,
      numbers.map((number) => ({ number, since })),
    )
  }
