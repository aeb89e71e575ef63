import { setTimeout as delay } from 'node:timers/promises'
import type { Submission } from './carrier.ts'
import type { Database } from './database.ts'
import type { Figures } from './figures.ts'
import type { Liveness } from './liveness.ts'
import type { RunningLoad } from './load.ts'
import type { Member } from './processes.ts'
import { within } from './within.ts'

/**
 * Maximum milliseconds until everything has settled. Each look counts as `lookMilliseconds`, however late it comes,
 * because a busy machine slows down the carriers and the gateway alike.
 */
const settleMilliseconds = 150_000
const lookMilliseconds = 300
/**
 * Seconds of work for the two carriers that are sent after the last fault, so that each run shows the effects of the
 * faults.
 */
const calmSeconds = 10

interface Settling {
  readonly database: Database
  readonly figures: Figures
}

/** Functions to call after the last fault. */
interface Calm {
  readonly liveness: Liveness
  readonly load: RunningLoad
  /** Maximum submissions per second of one dispatcher. */
  readonly perSecond: number
}

/**
 * Ends one dispatcher while there is work, lets the other one send the rest, and then ends that one too. No dispatcher
 * is restarted before, because a restart would repair the effects of faults. The next dispatcher then reports the
 * outcomes that a killed carrier still owed. Returns false if not everything has settled.
 */
export async function endInOrder(place: Settling, members: readonly Member[], calm: Calm): Promise<boolean> {
  const { figures } = place
  const [first, second] = members.filter(({ app }) => app === 'dispatcher')
  if (first === undefined || second === undefined) throw new Error('there are not two dispatchers')
  await within(90_000, Promise.all(members.map((member) => member.ready())))
  await calm.load.sendInCalm(calm.perSecond * 2 * calmSeconds)
  figures.count(`liveness ${(await calm.liveness.shown()) ? 'shown' : 'not judged'} after: the load`)
  await endOne(first, figures)
  if (!(await settle(place, nothingMoves))) return false
  await endOne(second, figures)
  await within(90_000, Promise.all(members.map((member) => member.ready())))
  return settle(place, allIsReported)
}

/** Ends a process in order (P-16). */
async function endOne(member: Member, figures: Figures): Promise<void> {
  const began = performance.now()
  const code = await member.end(false)
  const seconds = (performance.now() - began) / 1000
  if (code !== 0 || seconds > 25) figures.broken('P-16', `SIGTERM: exit code ${String(code)} after ${seconds} s`)
}

// Counts no claimed batch without ids. Such a batch only blocks a failed claim that may still be running, and exists as
// long as its dispatcher lives.
const nothingMoves = `(select count(*) from due) + (select count(*) from claimed_batch where ids <> '{}')
  + (select count(*) from later where at < now() + interval '10 min')`
export const allIsReported = `${nothingMoves} + (select count(*) from message where code = 100 and msisdn % 100 <> 94)`

/**
 * Waits until no message is under way. When it resolves with true, all reports are stored, and the only messages left
 * are those scheduled for later. The time limit starts again whenever a look finds fewer messages than any earlier one,
 * because the carriers of a run submit a few dozen messages per second, and a large queue takes longer than the limit.
 */
export async function settle({ database, figures }: Settling, expression: string): Promise<boolean> {
  let fewest = Infinity
  for (let looks = settleMilliseconds / lookMilliseconds; ; looks--) {
    const [row] = await database.ask<{ n: string }>(`select ${expression} n`)
    const remaining = Number(row?.n)
    if (remaining === 0) return true
    if (remaining < fewest) looks = settleMilliseconds / lookMilliseconds
    fewest = Math.min(fewest, remaining)
    if (looks <= 0) {
      const last = `the last ${settleMilliseconds} ms ended no message`
      figures.broken('P-4', `${remaining} messages are under way or unreported, and ${last}`)
      return false
    }
    await delay(lookMilliseconds)
  }
}

/**
 * Waits up to 30 s until as many replies are stored as the record of the carrier contains. A later check compares them.
 */
export async function repliesHaveCome(database: Database, record: readonly Submission[]): Promise<void> {
  const expected = record.filter(({ replies }) => replies !== undefined).length
  const end = performance.now() + 30_000
  while (performance.now() < end) {
    const [row] = await database.ask<{ n: string }>(
      `select count(*) n from inbound_message where text = 'Yes, thank you'`,
    )
    if (Number(row?.n) >= expected) return
    await delay(300)
  }
}

/** Waits up to 30 s until the receipts of messages that have just adopted a carrier reference are matched. */
export async function adoptedAreMatched(database: Database): Promise<void> {
  const end = performance.now() + 30_000
  while (performance.now() < end) {
    const [row] = await database.ask<{ n: string }>(
      'select count(*) n from message where code = 106 and carrier_id is not null',
    )
    if (Number(row?.n) === 0) return
    await delay(300)
  }
}

const eventsAtOnce = `(select coalesce(sum(count), 0) from webhook_event)
  + (select count(*) from webhook_list where state = 0 and (leased or due_at < now() + interval '20 s'))`

/**
 * Waits until the only remaining lists are those whose next retry is minutes away. Lists of a killed dispatcher become
 * free when their lease of 30 s ends.
 */
export async function eventsHaveCome({ database, figures }: Settling): Promise<void> {
  for (let looks = settleMilliseconds / lookMilliseconds; ; looks--) {
    const [row] = await database.ask<{ n: string }>(`select ${eventsAtOnce} n`)
    if (Number(row?.n) === 0) return
    if (looks <= 0) {
      figures.broken('P-11', `after ${settleMilliseconds} ms ${String(row?.n)} events or lists are not pushed`)
      return
    }
    await delay(lookMilliseconds)
  }
}

/**
 * Waits until every receipt and reply for SMPP customers was delivered. Deliveries of a killed process become free when
 * their lease of 40 s ends, and deliveries that a client refused temporarily are repeated after growing pauses.
 */
export async function deliveriesHaveCome({ database, figures }: Settling): Promise<void> {
  for (let looks = settleMilliseconds / lookMilliseconds; ; looks--) {
    const [row] = await database.ask<{ n: string }>('select count(*) n from smpp_delivery')
    if (Number(row?.n) === 0) return
    if (looks <= 0) {
      figures.broken('P-11', `after ${settleMilliseconds} ms ${String(row?.n)} deliveries wait for SMPP binds`)
      return
    }
    await delay(lookMilliseconds)
  }
}
