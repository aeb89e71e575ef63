import type { AccountId } from '@gateway/core/accounts'
import type { BulkSendId } from '@gateway/core/bulk-sends'
import {
  credits,
  plus,
  statementSum,
  type Cause,
  type Credits,
  type Movement,
  type Period,
  type StatementPage,
  type StatementPlace,
  type StatementSum,
} from '@gateway/core/credits'
import { instant } from '@gateway/core/time'
import type { Connections } from '../connections.ts'
import { showStatementPage, type KindSumRow, type StatementLineRow } from '../sql/statement-page.ts'
import { LEDGER } from '../stored-codes.ts'
import { causeOf } from './cause-of-movement.ts'

export async function statementPage(
  ordinary: Connections,
  account: AccountId,
  { from, to }: Period,
  historyDays: number,
  place: StatementPlace,
): Promise<StatementPage> {
  const [row] = await ordinary.run(showStatementPage, { account, from, to, historyDays, ...place })
  const { begins = 0, total = 0, sums = [], lines = [] } = row ?? {}
  return {
    lines: lines.map((line) => lineOf(account, line)),
    total,
    sums: sumsOf(sums),
    begins: credits(begins),
    ends: credits(sums.reduce((balance, { amount }) => balance + amount, begins)),
  }
}

function lineOf(account: AccountId, { at, amount, balance, bulk, ...row }: StatementLineRow): Movement {
  const cause = causeOf(row)
  return {
    ...{ account, at: instant(at), amount: credits(amount), balance: credits(balance) },
    cause: bulk !== null && isGrouped(cause) ? { ...cause, bulk: bulk as BulkSendId } : cause,
  }
}

const isGrouped = (cause: Cause): cause is Cause & { readonly kind: 'send' | 'refund' } =>
  cause.kind === 'send' || cause.kind === 'refund'

const KIND: ReadonlyMap<number, Cause['kind']> = new Map([
  [LEDGER.send, 'send'],
  [LEDGER.topUp, 'top-up'],
  [LEDGER.transfer, 'transfer'],
  [LEDGER.refund, 'refund'],
  [LEDGER.droppedSends, 'dropped-sends'],
])

function sumsOf(rows: readonly KindSumRow[]): Readonly<Record<StatementSum, Credits>> {
  const none = credits(0)
  const sums: Record<StatementSum, Credits> = { added: none, taken: none, moved: none, charged: none, returned: none }
  for (const { kind: code, amount } of rows) {
    const kind = KIND.get(code)
    if (kind === undefined) throw new Error(`no movement of kind ${code}`)
    const sum = statementSum({ kind }, credits(amount))
    sums[sum] = plus(sums[sum], credits(amount))
  }
  return sums
}
