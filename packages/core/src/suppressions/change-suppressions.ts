import type { Account } from '../accounts/account.ts'
import type { Msisdn } from '../messages/msisdn.ts'
import type { Ports } from '../ports.ts'
import { manualOptOutText, type ImportedOptOut } from './suppressions.ts'

/**
 * The account holder opts a number out; nothing is sent to confirm it (ruling 1.23). One that is there stays as it is.
 */
export const addOptOut =
  (ports: Pick<Ports, 'suppressions' | 'clock'>) =>
  (account: Account, number: Msisdn): Promise<'added' | 'already'> =>
    ports.suppressions.add({ scope: account.id, number, kind: 'opt-out', since: ports.clock.now() })

/** The account holder takes an opt-out back, whoever made it (ruling 1.22). False: there was none. */
export const removeOptOut =
  (ports: Pick<Ports, 'suppressions'>) =>
  (account: Account, number: Msisdn): Promise<boolean> =>
    ports.suppressions.remove({ scope: account.id, number, kind: 'opt-out' })

/**
 * Opts numbers out as another list has them: with its times and texts, so that a list that was exported is the same
 * when it is exported again; nothing is sent to confirm them. One that is there stays as it is. Returns how many were
 * added; all or none.
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

/** The lists that the operator keeps for everybody. */
export type BlockReason = 'blacklist' | 'do-not-contact'

/**
 * From now on messages to the number are refused; those that wait fail with code 214 when their turn comes, if it is
 * the blacklist.
 */
export const blockNumber =
  (ports: Pick<Ports, 'suppressions' | 'clock'>) =>
  (number: Msisdn, reason: BlockReason): Promise<'added' | 'already'> =>
    ports.suppressions.add({ scope: 'everybody', number, kind: reason, since: ports.clock.now() })

/**
 * As blocking each of them. Those that are on the list already stay as they are; returns how many were not. All or
 * none.
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

/** Takes the number off one of the operator's lists, or off both; returns the lists on which it was. */
export const unblockNumber =
  (ports: Pick<Ports, 'suppressions'>) =>
  async (number: Msisdn, reasons: readonly BlockReason[]): Promise<readonly BlockReason[]> => {
    const removed = await Promise.all(
      reasons.map((kind) => ports.suppressions.remove({ scope: 'everybody', number, kind })),
    )
    return reasons.filter((_, at) => removed[at])
  }
