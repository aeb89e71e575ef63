import type { Account } from '../accounts/account.ts'
import type { Msisdn } from '../messages/msisdn.ts'
import type { Ports } from '../ports.ts'
import { manualOptOutText, type ImportedOptOut } from './suppressions.ts'

/** Adds an opt-out for the account holder, without a confirmation (ruling 1.23). An existing entry does not change. */
export const addOptOut =
  (ports: Pick<Ports, 'suppressions' | 'clock'>) =>
  (account: Account, number: Msisdn): Promise<'added' | 'already'> =>
    ports.suppressions.add({ scope: account.id, number, kind: 'opt-out', since: ports.clock.now() })

/** Removes an opt-out for the account holder, whoever added it (ruling 1.22). Returns false if there was none. */
export const removeOptOut =
  (ports: Pick<Ports, 'suppressions'>) =>
  (account: Account, number: Msisdn): Promise<boolean> =>
    ports.suppressions.remove({ scope: account.id, number, kind: 'opt-out' })

/**
 * Imports opt-outs with their times and texts, so that a list that was exported, imported and exported again is the
 * same. Sends no confirmations. Existing entries do not change. Adds all new entries or none, and returns how many were
 * added.
 */
export const importOptOuts =
  (ports: Pick<Ports, 'suppressions' | 'clock'>) =>
  async (account: Account, entries: readonly ImportedOptOut[]): Promise<number> => {
    const now = ports.clock.now()
    const listed = entries.map(({ number, since = now, text }) => ({ number, since, text: textOf(text) }))
    return ports.suppressions.addAll(account.id, 'opt-out', listed)
  }

const textOf = (text: string | undefined): string | undefined =>
  text === undefined || text.trim() === '' || text === manualOptOutText ? undefined : text

/** Operator's list that applies to everybody. */
export type BlockReason = 'blacklist' | 'do-not-contact'

/**
 * Adds a number to a list of the operator. New messages to it are refused. If the list is the blacklist, waiting
 * messages fail with code 214 when a dispatcher claims them.
 */
export const blockNumber =
  (ports: Pick<Ports, 'suppressions' | 'clock'>) =>
  (number: Msisdn, reason: BlockReason): Promise<'added' | 'already'> =>
    ports.suppressions.add({ scope: 'everybody', number, kind: reason, since: ports.clock.now() })

/**
 * Blocks many numbers: all of them, or none if the call fails. Existing entries do not change. Returns how many were
 * added.
 */
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

/** Removes a number from lists of the operator. Returns the lists that contained it. */
export const unblockNumber =
  (ports: Pick<Ports, 'suppressions'>) =>
  async (number: Msisdn, reasons: readonly BlockReason[]): Promise<readonly BlockReason[]> => {
    const removed = await Promise.all(
      reasons.map((kind) => ports.suppressions.remove({ scope: 'everybody', number, kind })),
    )
    return reasons.filter((_, at) => removed[at])
  }
