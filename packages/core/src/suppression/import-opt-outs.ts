import type { Account } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import { manualOptOutText, type ImportedOptOut } from './opt-out.ts'

/**
 * Opts numbers out as another list has them: with its times and texts, so that a list that was exported is the same when it is
 * exported again; nothing is sent to confirm them. One that is there stays as it is. Returns how many were added; all or none.
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
