import { randomUUID } from 'node:crypto'
import { credits, transferFailure, type Instant, type Transfer, type TransferFailure } from '@gateway/core'
import type { Context } from '../context.ts'
import { isLostAnswer } from '../errors.ts'
import { settleLostStatement } from '../settle-lost-statement.ts'
import { arrayOf, timestamp } from '../sql/arrays.ts'
import { findOperation } from '../sql/find-operation.ts'
import { lockAccounts } from '../sql/read-account.ts'
import { transfer } from '../sql/transfer.ts'

const lossesMax = 3

/**
 * Locks both accounts, decides, and moves, in one transaction. If an answer of it is lost, its entries are looked up once it has ended:
 * then it is done, or nothing has moved and it is tried again.
 */
export async function transferCredits(
  { pools: { hot, ordinary }, settings, log }: Context,
  { from, to, amount }: Transfer,
  now: Instant,
): Promise<'done' | TransferFailure> {
  if (from === to || amount <= 0) throw new RangeError('a transfer moves something, from one account to another')
  const operation = randomUUID()

  const attempt = (): Promise<'done' | TransferFailure | 'no-such-account'> =>
    hot.transaction(async (connection) => {
      const rows = await connection.run(lockAccounts, [arrayOf([from, to])])
      const [sender, receiver] = [from, to].map((account) => rows.find(({ id }) => id === account))
      if (sender === undefined || receiver === undefined) return 'no-such-account'
      const failure = transferFailure(
        { ...sender, balance: credits(sender.balance) },
        { ...receiver, balance: credits(receiver.balance) },
        amount,
      )
      if (failure === undefined) await connection.run(transfer, [from, to, amount, timestamp(now), operation])
      return failure ?? 'done'
    })

  for (let losses = 0; ; losses++) {
    const result = await attempt().catch((error: unknown) => ({ error }))
    if (result === 'no-such-account') throw new Error(`account ${from} or ${to} is not there`)
    if (typeof result === 'string') return result
    const { error } = result
    const look = () => ordinary.run(findOperation, [from, operation])
    if (isLostAnswer(error)) {
      if ((await settleLostStatement(ordinary, error, settings.lookUpSeconds, look)).length > 0) return 'done'
      if (losses < lossesMax) continue
    }
    log.warn(`a transfer from account ${from} to ${to} failed: ${String(error)}`)
    return 'failed'
  }
}
