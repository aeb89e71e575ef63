import { randomUUID } from 'node:crypto'
import type { Instant, Transfer, TransferFailure } from '@gateway/core'
import type { Context } from '../context.ts'
import { isLostAnswer } from '../errors.ts'
import { settleLostStatement } from '../settle-lost-statement.ts'
import { timestamp } from '../sql/arrays.ts'
import { findOperation, transfer } from '../sql/transfer.ts'

const lossesMax = 3
const results: ReadonlySet<string | null | undefined> = new Set<'done' | TransferFailure>([
  'done',
  'from-locked',
  'to-locked',
  'insufficient-credits',
  'failed',
])
const isResult = (text: string | null | undefined): text is 'done' | TransferFailure => results.has(text)

/**
 * In one statement. If its answer is lost, its entries are looked up once it has ended: then it is done, or nothing has moved
 * and it is tried again.
 */
export async function transferCredits(
  { pools: { ordinary }, settings, log }: Context,
  { from, to, amount }: Transfer,
  now: Instant,
): Promise<'done' | TransferFailure> {
  if (from === to || amount <= 0) throw new RangeError('a transfer moves something, from one account to another')
  const operation = randomUUID()

  async function attempt(): Promise<string | null | undefined> {
    const rows = await ordinary.run(transfer, [from, to, amount, timestamp(now), operation])
    return rows[0]?.result
  }
  async function isEntered(): Promise<boolean> {
    return (await ordinary.run(findOperation, [from, operation])).length > 0
  }

  for (let losses = 0; ; losses++) {
    const result = await attempt().catch((error: unknown) => ({ error }))
    if (typeof result !== 'object' || result === null) {
      if (isResult(result)) return result
      throw new Error(`account ${from} or ${to} is not there`)
    }
    const { error } = result
    if (isLostAnswer(error) && (await settleLostStatement(ordinary, error, settings.lookUpSeconds, isEntered)))
      return 'done'
    if (isLostAnswer(error) && losses < lossesMax) continue
    log.warn(`a transfer from account ${from} to ${to} failed: ${String(error)}`)
    return 'failed'
  }
}
