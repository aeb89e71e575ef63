import { setTimeout as delay } from 'node:timers/promises'
import type { Processing } from '@gateway/core'
import type { DispatcherSettings } from '@gateway/core/dispatch'
import { repeat, type Log, type Repeated, type Repeating } from '@gateway/server'
import type { Idling } from './idling.ts'

/**
 * Milliseconds between two foldings of changes into the daily sums. Readers of the sums add the changes since the last
 * folding.
 */
const foldMilliseconds = 3000
/** Milliseconds between two foldings by a sleeping process, which finds none or few changes. */
const asleepFoldMilliseconds = 15_000

/** Milliseconds between two searches for whole SMPP texts that the process which stored them did not join. */
const joinMilliseconds = 3000

/** Returns the periodic work other than dispatching. */
export const startChores = (
  processing: Processing,
  idling: Idling,
  log: Log,
  settings: DispatcherSettings,
  recovered: (unknown: number) => void,
): Repeated[] =>
  beginInTurn([
    every('recover', settings.leaseSeconds * 500, log, async () => {
      const { requeued, unknown } = await processing.recover()
      recovered(unknown)
      if (requeued + unknown > 0) log.warn({ requeued, unknown }, 'took over the messages of a dead dispatcher')
    }),
    {
      name: 'match receipts',
      pauseMilliseconds: () => Math.max(1000, 2 * idling.pause()),
      log,
      work: () => processing.matchReceipts(),
    },
    {
      name: 'reroute',
      pauseMilliseconds: () => Math.max(1000, idling.pause()),
      log,
      work: () => processing.reroute(),
    },
    every('expire', 30_000, log, async () => {
      const expired = await processing.expire(settings.validitySeconds)
      if (expired > 0) log.warn({ expired }, 'messages waited beyond their validity and were refunded')
      const ended = await processing.expireDoubt(settings.validitySeconds)
      if (ended > 0) log.warn({ ended }, 'messages were in doubt beyond their validity and became SENT 106')
    }),
    {
      name: 'fold daily sums',
      pauseMilliseconds: () => (idling.isSoundAsleep() ? asleepFoldMilliseconds : foldMilliseconds),
      log,
      work: () => processing.foldDailySums(),
    },
    { name: 'release parts', pauseMilliseconds: 60_000, log, work: () => processing.releaseParts() },
    every('adopt receipts', 60_000, log, async () => {
      const proved = await processing.takeProofs()
      if (proved > 0) log.info({ proved }, 'receipts proved that messages in doubt had been submitted')
      const adopted = await processing.adoptReceipts()
      if (adopted > 0) log.info({ adopted }, 'receipts were matched to messages of unknown outcome')
    }),
    {
      name: 'join parts of SMPP texts',
      pauseMilliseconds: () => Math.max(joinMilliseconds, idling.pause()),
      log,
      work: () => processing.joinParts(),
    },
    { name: 'expire parts of SMPP texts', pauseMilliseconds: 30_000, log, work: () => processing.expireParts() },
    {
      name: 'drop SMPP deliveries',
      pauseMilliseconds: historyMilliseconds,
      log,
      work: () => processing.dropDeliveries(),
    },
    droppingHistory(processing, log),
  ])

/** Maximum milliseconds for which a chore waits until the first run of the previous chore has ended. */
const firstRunMilliseconds = 1000

/**
 * Starts the chores one after the other. At a start database connections still have to be opened, and on a slow machine
 * the last of many concurrent requests would time out.
 */
function beginInTurn(chores: readonly Repeating[]): Repeated[] {
  let after: Promise<unknown> = Promise.resolve()
  return chores.map((each) => {
    const begun = repeat({ ...each, after })
    after = after.then(() => Promise.race([begun.ranOnce, delay(firstRunMilliseconds, undefined, { ref: false })]))
    return begun
  })
}

const every = (
  name: string,
  pauseMilliseconds: number | (() => number),
  log: Log,
  work: () => Promise<void>,
): Repeating => ({ name, pauseMilliseconds, log, work: () => work().then(() => 'all') })

export const chore = (...of: Parameters<typeof every>): Repeated => repeat(every(...of))

const historyMilliseconds = 600_000

/** Drops history older than 90 days, every ten minutes. Consecutive steps are logged together. */
export function droppingHistory(processing: Pick<Processing, 'purge'>, log: Log): Repeating {
  let dropped = { partitions: 0, sends: 0, messages: 0 }
  return {
    name: 'drop history',
    pauseMilliseconds: historyMilliseconds,
    log,
    work: async () => {
      const { partitions, sends, messages, progress: remaining } = await processing.purge()
      dropped = {
        partitions: dropped.partitions + partitions,
        sends: dropped.sends + sends,
        messages: dropped.messages + messages,
      }
      if (remaining === 'more') return 'more'
      if (dropped.partitions + dropped.sends > 0) log.info(dropped, 'dropped history older than 90 days')
      dropped = { partitions: 0, sends: 0, messages: 0 }
      return 'all'
    },
  }
}
