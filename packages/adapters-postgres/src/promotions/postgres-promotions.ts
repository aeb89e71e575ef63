import { failedOverSendDays, type Promotion, type Promotions } from '@gateway/core/dispatch'
import type { Connection } from '../connections.ts'
import type { Context } from '../context.ts'
import { retryOnConnectionLoss, retryWorkOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { listFailedOverSends } from '../sql/bulk-sends.ts'
import {
  decidePromotions,
  endPromotions,
  endRanges,
  expireRanges,
  listPromotions,
  lockPromotions,
  proveByReceipts,
  sendRanges,
} from '../sql/promotions.ts'
import { fromRow, type RowOf } from '../sql/statement.ts'

type Open = RowOf<typeof lockPromotions>

/** Implements messages in doubt after a promotion. If a connection breaks before an answer, each call runs again. */
export function postgresPromotions({ pools: { ordinary } }: Pick<Context, 'pools'>): Promotions {
  /** Runs work that changes messages in doubt, for one caller at a time. */
  const change = <T>(work: (connection: Connection, open: readonly Open[]) => Promise<T>): Promise<T> =>
    retryWorkOnConnectionLoss(ordinary, () =>
      ordinary.transaction(async (connection) => {
        const result = await work(connection, await connection.run(lockPromotions, {}))
        await connection.run(endPromotions, {})
        return result
      }),
    )

  return {
    open: async () => (await retryOnConnectionLoss(ordinary, listPromotions, {})).map(promotionOf),
    failedOverSends: async () => {
      const rows = await retryOnConnectionLoss(ordinary, listFailedOverSends, { days: failedOverSendDays })
      return rows.map(({ id, account, failedOver, rows: open }) => ({ id, account, failedOver, rows: open }))
    },
    decide: (decision, by) =>
      change(async (connection, open) => {
        if (open.length === 0) return 'nothing-in-doubt'
        if (open.some((one) => one.decision !== null && one.decision !== decision)) return 'decided-otherwise'
        await connection.run(decidePromotions, { decision, by })
        return 'decided'
      }),
    carryOut: (messagesMax) =>
      change(async (connection, open) => {
        const decision = open.find((promotion) => promotion.decision !== null)?.decision
        if (decision === undefined) return 0
        const [row] = await connection.run(decision === 'end' ? endRanges : sendRanges, { messagesMax })
        return row?.messages ?? 0
      }),
    takeProofs: (ageSeconds) =>
      change(async (connection) => (await connection.run(proveByReceipts, { ageSeconds }))[0]?.messages ?? 0),
    expire: (validitySeconds, messagesMax) =>
      change(async (connection, open) => {
        if (open.length === 0) return 0
        const [row] = await connection.run(expireRanges, { validitySeconds, messagesMax })
        return row?.messages ?? 0
      }),
  }
}

function promotionOf(row: RowOf<typeof listPromotions>): Promotion {
  const { firstDue, lastDue, decision, decidedBy, decidedAt, ...promotion } = row
  return {
    ...fromRow(promotion),
    due: firstDue === null || lastDue === null ? undefined : { first: firstDue, last: lastDue },
    decision:
      decision === null || decidedAt === null ? undefined : { choice: decision, by: decidedBy ?? '', at: decidedAt },
  }
}
