import { credits, type AccountId, type Credits, type Instant, type Ledger, type LedgerCheck } from '@gateway/core'
import type { Context } from '../context.ts'
import { timestamp } from '../sql/arrays.ts'
import { checkLedger, enterCredits } from '../sql/ledger.ts'
import { movements } from './movements.ts'
import { refundMessage } from './refund-message.ts'
import { transferCredits } from './transfer.ts'

export function postgresLedger(context: Context): Ledger {
  const { ordinary, kysely } = context.pools

  async function balance(id: AccountId): Promise<Credits | undefined> {
    const row = await kysely.selectFrom('account').select('balance').where('id', '=', id).executeTakeFirst()
    return row && credits(row.balance)
  }

  async function topUp(id: AccountId, amount: Credits, why: string, now: Instant) {
    const [row] = await ordinary.run(enterCredits, [id, amount, why, timestamp(now)])
    if (row !== undefined) return credits(row.balance)
    return (await balance(id)) === undefined ? 'no-such-account' : 'out-of-range'
  }

  async function check(): Promise<LedgerCheck> {
    const rows = await ordinary.run(checkLedger, [])
    const differences = rows.flatMap(({ id, balance, entries }) =>
      id === null ? [] : [{ account: id as AccountId, balance: credits(balance), entries: credits(entries) }],
    )
    return { accounts: rows[0]?.accounts ?? 0, balances: credits(rows[0]?.balances ?? 0), differences }
  }
  return {
    balance,
    topUp,
    check,
    refund: (wanted, now) => refundMessage(context, wanted, now),
    movements: (of, period, historyDays) => movements(ordinary, of, period, historyDays),
    transfer: (wanted, now) => transferCredits(context, wanted, now) as ReturnType<Ledger['transfer']>,
    transferOnce: (wanted, now, request) => transferCredits(context, wanted, now, request),
  }
}
