import type { Cause } from '@gateway/core/credits'
import { labelsOf, noOptions, outcomeCode, withLabels } from '@gateway/core/messages'
import type { MovementRow } from '../sql/credits.ts'
import { LEDGER } from '../stored-codes.ts'

type CauseRow = Omit<MovementRow, 'at' | 'time' | 'part' | 'id' | 'amount'>

/** Returns the cause of a movement. Throws for a kind that this version does not know. */
export function causeOf({ kind, first, messages, code, other, why, message, reference, labels }: CauseRow): Cause {
  if (kind === LEDGER.topUp) return { kind: 'top-up', why: why ?? '' }
  if (kind === LEDGER.transfer) return { kind: 'transfer', account: other ?? undefined }
  if (kind === LEDGER.refund && message !== null) return { kind: 'refund-by-hand', message, why: why ?? '' }
  if (kind === LEDGER.refund) {
    return {
      kind: 'refund',
      first: first ?? undefined,
      code: code === null ? undefined : outcomeCode(code),
    }
  }
  if (kind === LEDGER.droppedSends) return { kind: 'dropped-sends' }
  if (kind === LEDGER.send && first !== null && messages !== null)
    return withLabels(
      { kind: 'send', first, messages },
      { reference: reference ?? undefined, ...labelsOf(labels ?? noOptions) },
    )
  throw new Error(`unknown kind of movement: ${kind}`)
}
