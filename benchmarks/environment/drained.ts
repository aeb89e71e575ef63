import { setTimeout as delay } from 'node:timers/promises'
import { countIds, firstOf, type IdRanges } from '../loads/id-ranges.ts'
import type { Database } from './postgres.ts'

const secondsMax = 300

/** Query that is true if no message is due and none is claimed. It reads two small tables. */
const isIdle = `select not exists (select from due) and not exists (select from claimed_batch) as idle`

/**
 * Waits until no message is due or claimed and all accepted messages are DELIVERED. Counts the delivered messages from
 * the smallest accepted id on, which need not belong to the first send. Throws after a time limit.
 */
export async function drained(database: Database, ...accepted: readonly IdRanges[]): Promise<void> {
  const messages = accepted.reduce((sum, ranges) => sum + countIds(ranges), 0)
  const from = Math.min(...accepted.map(firstOf))
  const deadline = performance.now() + secondsMax * 1000
  const delivered = (): Promise<number> =>
    database.number(`select count(*) from message where id >= $1 and code = 0`, [from])
  for (;;) {
    const [row] = await database.query<{ idle: boolean }>(isIdle)
    // Count only when everything may be delivered, because the count reads all these messages.
    if (row?.idle === true && (await delivered()) >= messages) return
    if (performance.now() > deadline) {
      throw new Error(`after ${secondsMax} s only ${await delivered()} of ${messages} messages are delivered`)
    }
    await delay(25)
  }
}
