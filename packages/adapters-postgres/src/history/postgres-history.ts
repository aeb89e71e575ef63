import type { DroppedHistory, History } from '@gateway/core'
import { again } from '../again.ts'
import type { Context } from '../context.ts'
import { sqlState } from '../errors.ts'
import { dropHistory } from '../sql/drop-history.ts'

/** Somebody reads what is to be dropped, or changes it. */
const lockTaken = '55P03'
const fromStart = -1

/** Dropping of what is old, on Postgres. Partitions that filled up fast go as a whole, all else by blocks of ids. */
export function postgresHistory({ pools: { ordinary } }: Context): History {
  let at = fromStart

  async function drop(days: number, contactDays: number): Promise<DroppedHistory> {
    try {
      const [row] = await again(ordinary, dropHistory, [at, days, contactDays])
      if (row === undefined) throw new Error('dropping history told nothing')
      at = row.next
      return { partitions: row.partitions, sends: row.sends, messages: row.messages, left: row.state }
    } catch (error) {
      at = fromStart
      if (sqlState(error) === lockTaken) return { partitions: 0, sends: 0, messages: 0, left: 'busy' }
      throw error
    }
  }
  return { drop }
}
