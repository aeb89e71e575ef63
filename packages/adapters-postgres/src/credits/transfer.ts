import { randomUUID } from 'node:crypto'
import type { ClientRequest, Instant, Transfer, TransferFailure } from '@gateway/core'
import type { Context } from '../context.ts'
import { askedDigest, keyDigest } from '../client-requests/digests.ts'
import { isLostAnswer } from '../errors.ts'
import { refuseWhileHeld } from '../nothing-done.ts'
import { settleLostStatement } from '../settle-lost-statement.ts'
import { timestamp } from '../sql/arrays.ts'
import { findOperation } from '../sql/find-operation.ts'
import { transfer } from '../sql/transfer.ts'

const lossesMax = 3

/**
 * In one statement. If its answer is lost, its entries are looked up once it has ended: then it is done, or nothing has moved and it is
 * tried again.
 */
export async function transferCredits(
  { pools: { ordinary, writes }, settings, log }: Context,
  { from, to, amount }: Transfer,
  now: Instant,
  request?: ClientRequest,
): Promise<'done' | TransferFailure | 'repeated'> {
  if (from === to || amount <= 0) throw new RangeError('a transfer moves something, from one account to another')
  refuseWhileHeld(writes)
  const operation = randomUUID()
  const keyed = request ? [request.account, keyDigest(request), askedDigest(request)] : [null, null, null]

  for (let losses = 0; ; losses++) {
    const attempt = ordinary.run(transfer, [from, to, amount, timestamp(now), operation, ...keyed])
    const result = await attempt.catch((error: unknown) => ({ error }))
    if (!('error' in result)) {
      const [row] = result
      if (row?.result) return row.result
      throw new Error(`account ${from} or ${to} is not there`)
    }
    const { error } = result
    const look = () => ordinary.run(findOperation, [from, operation])
    if (isLostAnswer(error)) {
      if ((await settleLostStatement(ordinary, error, settings.lookUpSeconds, look)).length > 0) return 'done'
      if (losses < lossesMax) continue
    }
    log.warn(`a transfer from account ${from} to ${to} failed: ${String(error)}`)
    // The same request may have moved them before, under its key: that it failed would be read as that nothing has moved.
    if (request !== undefined) throw new Error('whether the credits moved cannot be found out', { cause: error })
    return 'failed'
  }
}
