import {
  credits,
  instant,
  outcomeCode,
  type AccountId,
  type Cause,
  type MessageId,
  type Movement,
  type Period,
} from '@gateway/core'
import type { Connections } from '../connections.ts'
import { timestamp } from '../sql/arrays.ts'
import { closeMovements, declareMovements, fetchMovements, type MovementRow } from '../sql/list-movements.ts'
import { LEDGER } from '../stored-codes.ts'

/** Read on one connection, which is free again when the reader has come to the end or has left. */
export async function* movements(
  ordinary: Connections,
  of: AccountId | 'all',
  { from, to }: Period,
  historyDays: number,
): AsyncIterable<readonly Movement[]> {
  const connection = await ordinary.connect()
  const bound = (at: Period['from']) => (at === undefined ? null : timestamp(at))
  try {
    await connection.query(declareMovements, [of === 'all' ? null : of, bound(from), bound(to), historyDays])
    try {
      for (;;) {
        const { rows } = await connection.query<MovementRow>(fetchMovements, [])
        if (rows.length === 0) return
        yield rows.map(movementOf)
      }
    } finally {
      await connection.query(closeMovements, [])
    }
  } finally {
    connection.release()
  }
}

const movementOf = (row: MovementRow): Movement => ({
  account: row.account as AccountId,
  at: instant(row.at),
  amount: credits(row.amount),
  balance: credits(row.balance),
  cause: causeOf(row),
})

function causeOf({ kind, first, messages, code, other, why, message }: MovementRow): Cause {
  if (kind === LEDGER.topUp) return { kind: 'top-up', why: why ?? '' }
  if (kind === LEDGER.transfer) return { kind: 'transfer', account: (other ?? undefined) as AccountId | undefined }
  if (kind === LEDGER.refund && message !== null)
    return { kind: 'refund-by-hand', message: message as MessageId, why: why ?? '' }
  if (kind === LEDGER.refund) {
    return {
      kind: 'refund',
      first: (first ?? undefined) as MessageId | undefined,
      code: code === null ? undefined : outcomeCode(code),
    }
  }
  if (kind === LEDGER.droppedSends) return { kind: 'dropped-sends' }
  if (kind === LEDGER.send && first !== null && messages !== null)
    return { kind: 'send', first: first as MessageId, messages }
  throw new Error(`no movement of kind ${kind}`)
}
