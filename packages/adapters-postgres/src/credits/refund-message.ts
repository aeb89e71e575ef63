import { randomUUID } from 'node:crypto'
import {
  credits,
  type AccountId,
  type Instant,
  type RefundByHand,
  type Refunded,
  type RefundRefusal,
} from '@gateway/core'
import type { Context } from '../context.ts'
import { isLostAnswer } from '../errors.ts'
import { settleLostStatement } from '../settle-lost-statement.ts'
import { timestamp } from '../sql/arrays.ts'
import { findRefund } from '../sql/find-operation.ts'
import { refundMessage as refund } from '../sql/refund-message.ts'

const lossesMax = 3

/** In one statement. If its answer is lost, its entry is looked up once it has ended: then it is done, or it is tried again. */
export async function refundMessage(
  { pools: { ordinary }, settings }: Context,
  { message, why }: RefundByHand,
  now: Instant,
): Promise<Refunded | RefundRefusal> {
  const operation = randomUUID()
  for (let losses = 0; ; losses++) {
    try {
      const [row] = await ordinary.run(refund, [message, why, timestamp(now), operation])
      if (row === undefined || row.account === null || row.price === null) return 'no-such-message'
      if (row.amount !== null && row.balance !== null) return refunded(row.account, row.amount, row.balance)
      if (!row.decided) return 'waiting'
      return row.price === 0 ? 'nothing-charged' : 'refunded-already'
    } catch (error) {
      if (!isLostAnswer(error)) throw error
      const look = () => ordinary.run(findRefund, [message, operation])
      const [found] = await settleLostStatement(ordinary, error, settings.lookUpSeconds, look)
      if (found !== undefined) return refunded(found.account, found.amount, found.balance)
      if (losses === lossesMax) throw error
    }
  }
}

const refunded = (account: number, amount: number, balance: number): Refunded => ({
  account: account as AccountId,
  amount: credits(amount),
  balance: credits(balance),
})
