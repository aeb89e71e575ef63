import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from './postgres.ts'

/** Nothing waits for now and nothing flies. Two looks at small tables. */
const isIdle = `select not exists (select from due) and not exists (select from flight) as idle`

/** Waits until so many messages from the id `from` on are DELIVERED and nothing waits for now. Throws if that takes too long. */
export async function drained(database: Database, messages: number, from = 0, secondsMax = 600): Promise<void> {
  const deadline = performance.now() + secondsMax * 1000
  const delivered = (): Promise<number> =>
    database.number(`select count(*) from message where id >= $1 and code = 0`, [from])
  for (;;) {
    const [row] = await database.query<{ idle: boolean }>(isIdle)
    // The count reads all these messages: only when it may be the last.
    if (row?.idle === true && (await delivered()) >= messages) return
    if (performance.now() > deadline) {
      throw new Error(`after ${secondsMax} s only ${await delivered()} of ${messages} messages are delivered`)
    }
    await delay(25)
  }
}
