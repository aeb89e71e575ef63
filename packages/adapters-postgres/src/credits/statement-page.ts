import type { AccountId } from '@gateway/core/accounts'
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
  const { begins = credits(0), total = 0, sums = [], lines = [] } = row ?? {}
  return {
    lines: lines.map((line) => lineOf(account, line)),
    total,
    sums: sumsOf(sums),
    begins,
    ends: sums.reduce((balance, { amount }) => plus(balance, amount), begins),
  }
}

function lineOf(account: AccountId, { at, amount, balance, bulk, ...row }: StatementLineRow): Movement {
  const cause = causeOf(row)
  return { account, at, amount, balance, cause: bulk !== null && isGrouped(cause) ? { ...cause, bulk } : cause }
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
    if (kind === undefined) throw new Error(`unknown kind of movement: ${code}`)
    const sum = statementSum({ kind }, amount)
    sums[sum] = plus(sums[sum], amount)
  }
  return sums
}
