import { setTimeout as delay } from 'node:timers/promises'
import type { Submission } from './carrier.ts'
import type { Database } from './database.ts'
import type { Figures } from './figures.ts'
import type { Liveness } from './liveness.ts'
import type { RunningLoad } from './load.ts'
import type { Member } from './processes.ts'
import { within } from './within.ts'

const settleMilliseconds = 150_000
/** After the last fault the two carriers have work for so long: each run sees what faults have left behind. */
const calmSeconds = 10

interface Settling {
  readonly database: Database
  readonly figures: Figures
}

/** What is asked for when no fault comes any more. */
interface Calm {
  readonly liveness: Liveness
  readonly load: RunningLoad
  /** What the carrier of one dispatcher takes. */
  readonly perSecond: number
}

/**
 * One dispatcher ends while there is work, the other sends what there is: a restart would cure what faults have done to
 * it. It ends too, and then what a killed carrier still owed is told by the next one. False: not all has settled.
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

/** In good order (P-16). */
async function endOne(member: Member, figures: Figures): Promise<void> {
  const began = performance.now()
  const code = await member.end(false)
  const seconds = (performance.now() - began) / 1000
  if (code !== 0 || seconds > 25) figures.broken('P-16', `SIGTERM: exit code ${String(code)} after ${seconds} s`)
}

// A claimed batch without ids only stops a claim that failed and may still be at work; it stays as long as its
// dispatcher lives.
const nothingMoves = `(select count(*) from due) + (select count(*) from claimed_batch where ids <> '{}')
  + (select count(*) from later where at < now() + interval '10 min')`
export const allIsReported = `${nothingMoves} + (select count(*) from message where code = 100 and msisdn % 100 <> 94)`

/** Until nothing is under way: what is left waits for a time to come, and everything that will be reported has been. */
export async function settle({ database, figures }: Settling, what: string): Promise<boolean> {
  const end = performance.now() + settleMilliseconds
  for (;;) {
    const [row] = await database.ask<{ n: string }>(`select ${what} n`)
    if (Number(row?.n) === 0) return true
    if (performance.now() > end) {
      figures.broken('P-4', `after ${settleMilliseconds} ms ${String(row?.n)} messages are under way or unreported`)
      return false
    }
    await delay(300)
  }
}

/** As many as the carrier's record says, or 30 s later: whether it is those is judged then. */
export async function repliesHaveCome(database: Database, record: readonly Submission[]): Promise<void> {
  const wanted = record.filter(({ replies }) => replies !== undefined).length
  const end = performance.now() + 30_000
  while (performance.now() < end) {
    const [row] = await database.ask<{ n: string }>(
      `select count(*) n from inbound_message where text = 'Yes, thank you'`,
    )
    if (Number(row?.n) >= wanted) return
    await delay(300)
  }
}

/** Until the receipts of messages that have just been given a reference have found them, or 30 s later. */
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
 * Until nothing waits but what is to be tried again in minutes: a killed dispatcher's lists are free after a lease of
 * 30 s.
 */
export async function eventsHaveCome({ database, figures }: Settling): Promise<void> {
  const end = performance.now() + settleMilliseconds
  for (;;) {
    const [row] = await database.ask<{ n: string }>(`select ${eventsAtOnce} n`)
    if (Number(row?.n) === 0) return
    if (performance.now() > end) {
      figures.broken('P-11', `after ${settleMilliseconds} ms ${String(row?.n)} events or lists are not pushed`)
      return
    }
    await delay(300)
  }
}
