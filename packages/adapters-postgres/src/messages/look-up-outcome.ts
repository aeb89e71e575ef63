import type { AccountId } from '@gateway/core'
import type { Connections } from '../connections.ts'
import type { LostAnswer } from '../errors.ts'
import { settleLostStatement } from '../settle-lost-statement.ts'
import { findSends } from '../sql/accept.ts'
import { readBalances } from '../sql/accounts.ts'
import type { Send } from './lay-out.ts'

export interface LookedUpOutcome {
  /** First ids of the sends that were stored. All others were not, and never will be. */
  readonly stored: ReadonlySet<number>
  readonly balances: ReadonlyMap<AccountId, number>
}

/** What became of sends whose answer was lost. Tries for `seconds`; then throws, and nobody knows. */
export const lookUpOutcome = (
  hot: Connections,
  lost: LostAnswer,
  sends: readonly Send[],
  seconds: number,
): Promise<LookedUpOutcome> => settleLostStatement(hot, lost, seconds, () => look(hot, sends))

async function look(hot: Connections, sends: readonly Send[]): Promise<LookedUpOutcome> {
  const found = await hot.run(findSends, { ids: sends.map(({ firstId }) => firstId) })
  const accounts = new Set(sends.map(({ account }) => account))
  const balances = await hot.run(readBalances, { accounts: [...accounts] })
  return {
    stored: new Set(found.map((row) => row.first_id)),
    balances: new Map(balances.map(({ id, balance }) => [id as AccountId, balance])),
  }
}
