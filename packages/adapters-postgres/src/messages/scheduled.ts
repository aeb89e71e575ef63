import { randomUUID } from 'node:crypto'
import {
  credits,
  instant,
  type AccountId,
  type Deletion,
  type Instant,
  type MessageId,
  type Msisdn,
  type Page,
  type Paged,
  type ScheduledMessage,
} from '@gateway/core'
import type { Connections } from '../connections.ts'
import { isLostAnswer } from '../errors.ts'
import { settleLostStatement } from '../settle-lost-statement.ts'
import { arrayOf, timestamp } from '../sql/arrays.ts'
import { deleteWaiting, findDeleted, listScheduled } from '../sql/scheduled.ts'
import { foldScheduled } from '../sql/scheduled-counts.ts'

/** Of more changes than this a reader adds some to the counts, for those who read after it. */
const unfoldedMax = 500
const foldedMax = 10_000

export async function scheduled(
  ordinary: Connections,
  by: AccountId,
  { offset, limit }: Page,
): Promise<Paged<ScheduledMessage>> {
  const rows = await ordinary.run(listScheduled, [by, offset, limit])
  if ((rows[0]?.unfolded ?? 0) > unfoldedMax) await ordinary.run(foldScheduled, [by, by, foldedMax])
  const items = rows.flatMap(({ id, number, submitted, due, price }) =>
    id === null
      ? []
      : {
          id: id as MessageId,
          number: String(number) as Msisdn,
          submitted: instant(submitted),
          due: instant(due),
          cost: credits(price),
        },
  )
  return { total: rows[0]?.total ?? 0, items }
}

/** What is known of an id of the account, and what was refunded if this call has deleted it. */
interface Known {
  readonly id: number
  readonly number: number
  readonly refund: number | null
}

const lossesMax = 3

/**
 * In one statement. If its answer is lost, what it has deleted is looked up once it has ended, and the rest is asked for again:
 * so what this call deleted is told as deleted, and nothing that another did.
 */
export async function deleteScheduled(
  ordinary: Connections,
  lookUpSeconds: number,
  by: AccountId,
  ids: readonly MessageId[],
  since: Instant,
): Promise<readonly Deletion[]> {
  const known = new Map<number, Known>()
  for (let losses = 0; ; losses++) {
    const rest = [...new Set(ids)].filter((id) => !known.has(id))
    if (rest.length === 0) break
    const operation = randomUUID()
    try {
      const rows = await ordinary.run(deleteWaiting, [by, arrayOf(rest), timestamp(since), operation])
      for (const row of rows) known.set(row.id, row)
      break
    } catch (error) {
      if (!isLostAnswer(error)) throw error
      const look = () => ordinary.run(findDeleted, [by, operation])
      for (const row of await settleLostStatement(ordinary, error, lookUpSeconds, look)) known.set(row.id, row)
      if (losses === lossesMax) throw error
    }
  }
  return deletionsOf(ids, known)
}

/** As if one id came after the other: the second time, what was deleted is not found. */
function deletionsOf(ids: readonly MessageId[], known: Map<number, Known>): readonly Deletion[] {
  return ids.map((id) => {
    const row = known.get(id)
    if (row === undefined) return { outcome: 'not-found' }
    const number = String(row.number) as Msisdn
    if (row.refund === null) return { outcome: 'sent', number }
    known.delete(id)
    return { outcome: 'deleted', number, refunded: credits(row.refund) }
  })
}
