import type { ClientBase, QueryResultRow } from 'pg'
import { hasEverything, type WitnessedPrimary } from '@gateway/core/dispatch'
import type { Connections } from '../connections.ts'
import { sqlState } from '../errors.ts'
import type { Log } from '../settings.ts'
import { failOverBulkSends } from '../sql/bulk-sends.ts'
import { giveUpSharedBlock, skipBlocks } from '../sql/ids.ts'
import {
  addPromotion,
  doubtWaiting,
  endDispatchers,
  endPromotions,
  lockPrimary,
  lookAtPrimary,
  readPrimary,
  rememberFirst,
  rememberPrimary,
} from '../sql/promotions.ts'
import { valuesOf, type Statement } from '../sql/statement.ts'
import { WrongServer } from '../write-trouble.ts'

/**
 * Detects that another server has become the primary (P-5). Each connection of the pools is admitted before it is used,
 * so that a new primary accepts and hands out messages only after it is known whether its waiting messages are in
 * doubt. The database stores the primary, and a process remembers the last one that it saw.
 */
export interface PrimaryWatch {
  /** Admits a new connection. Throws a `WrongServer` for a standby. */
  admit(client: ClientBase): Promise<void>
  /** Reads the state of the primary over an admitted connection. */
  look(connections: Connections): Promise<void>
}

type Seen = NonNullable<(typeof readPrimary)['row']>

/** SQLSTATEs with which a server refuses to report its timeline, as in `primary.ts`. */
const refusals = new Set<string | undefined>(['42501', '0A000', '42883'])

/**
 * Number of blocks of ids to skip, because the lost primary may have leased them. The blocks that a sequence logs ahead
 * are skipped in addition.
 */
const skippedBlocks = 100

export function watchPrimaryLooks(log: Log): PrimaryWatch {
  let witness: WitnessedPrimary | undefined
  /** Time by `performance.now()` at which this process last stored a check of the primary. */
  let writtenAt = -Infinity

  async function settle(client: ClientBase): Promise<void> {
    const seenBefore = witness
    const doubted = await alone(client, async (run) => {
      await run(lockPrimary, {})
      const [seen] = await run(readPrimary, {})
      if (seen === undefined || isSame(seen)) return undefined
      const isOther = seen.lastSystem !== seen.system
      const counts = isOther || isComplete(seen, seenBefore) ? undefined : await doubt(run, seen)
      await run(rememberPrimary, {})
      return { ...seen, counts }
    })
    if (doubted === undefined) return
    const { lastTimeline, timeline, counts } = doubted
    const change = `another server is the primary (timeline ${timeline}, was ${lastTimeline})`
    if (counts === undefined) log.warn(`${change}: nothing is in doubt`)
    else
      log.warn(
        `${change}, and may lack the last changes of the lost server: ` +
          `${counts.messages} messages are in doubt, ${counts.sends} bulk sends are stopped`,
      )
  }

  return {
    async look(connections) {
      if (witness === undefined) return
      const now = performance.now()
      const isWritten = now - writtenAt > writeMilliseconds
      // Without a synchronous standby, a promotion puts messages in doubt in any case, so only checks that are stored
      // are needed.
      if (!witness.synchronous && !isWritten) return
      const [seen] = await connections.run(lookAtPrimary, { isWritten })
      if (seen === undefined) await connections.run(rememberFirst, {})
      else {
        if (seen.lookedAt !== null) writtenAt = now
        witness = { ...seen, lookedAt: seen.lookedAt ?? witness.lookedAt }
      }
    },
    async admit(client) {
      const [seen] = await ask(client, readPrimary, {}).catch((error: unknown) => {
        if (refusals.has(sqlState(error))) return [undefined]
        throw error
      })
      if (seen === undefined) return
      if (seen.timeline === null) throw new WrongServer('read-only', 'the server is a standby')
      if (seen.lastSystem === null) await ask(client, rememberFirst, {})
      else if (!isSame(seen)) await settle(client)
      const { timeline, synchronous } = seen
      // If the server is new to this process, the process has not stored a check of it yet.
      if (witness?.timeline !== timeline) writtenAt = -Infinity
      witness = { timeline, synchronous, lookedAt: witness?.timeline === timeline ? witness.lookedAt : 0 }
    },
  }
}

/** Interval between two checks of the primary, and interval at which a check is stored even if nothing has changed. */
const [lookMilliseconds, writeMilliseconds] = [2000, 10_000]

/** Checks the primary every two seconds, one check at a time. Returns a function that ends the checks. */
export function lookNowAndThen(primary: PrimaryWatch, ordinary: Connections): () => void {
  let looking: Promise<void> | undefined
  const look = (): void => {
    // Errors are ignored, because the next check repeats the query. The database may be away, not migrated or waiting.
    looking ??= primary
      .look(ordinary.failFast)
      .catch(() => undefined)
      .finally(() => (looking = undefined))
  }
  const timer = setInterval(look, lookMilliseconds).unref()
  return () => clearInterval(timer)
}

const isSame = (seen: Seen): boolean => seen.lastSystem === seen.system && seen.lastTimeline === seen.timeline

function isComplete(seen: Seen, witness: WitnessedPrimary | undefined): boolean {
  const { lastTimeline, wasSynchronous, lookedAt, isRecent } = seen
  if (lastTimeline === null || wasSynchronous === null || lookedAt === null) return false
  const remembered = { timeline: lastTimeline, synchronous: wasSynchronous, lookedAt, isRecent: isRecent === true }
  return hasEverything(remembered, witness)
}

type Run = <Values, Row>(statement: Statement<Values, Row>, values: NoInfer<Values>) => Promise<readonly Row[]>

async function doubt(run: Run, { lastTimeline }: Seen): Promise<{ readonly messages: number; readonly sends: number }> {
  await run(endDispatchers, {})
  const [promotion] = await run(addPromotion, { fromTimeline: lastTimeline ?? 0 })
  if (promotion === undefined) throw new Error('storing a promotion returned no id')
  const [moved] = await run(doubtWaiting, { promotion: promotion.id })
  const [stopped] = await run(failOverBulkSends, {})
  await run(endPromotions, {})
  await run(skipBlocks, { count: skippedBlocks })
  await run(giveUpSharedBlock, {})
  return { messages: moved?.messages ?? 0, sends: stopped?.sends ?? 0 }
}

/**
 * Runs a transaction without time limits, whose commit does not wait for a standby. If the transaction is lost, the
 * next promoted server detects the promotion again.
 */
async function alone<T>(client: ClientBase, work: (run: Run) => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    await client.query('set local statement_timeout = 0; set local lock_timeout = 0')
    await client.query('set local idle_in_transaction_session_timeout = 0')
    const result = await work((statement, values) => ask(client, statement, values))
    await client.query('set local synchronous_commit = local; commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

async function ask<Values, Row>(
  client: ClientBase,
  statement: Statement<Values, Row>,
  values: NoInfer<Values>,
): Promise<readonly Row[]> {
  const query = { text: statement.text, values: valuesOf(statement, values), query_timeout: patienceMilliseconds }
  const { rows } = await client.query<Row & QueryResultRow>(query)
  return rows
}

/** Time limit of a statement, because a large backlog takes seconds. */
const patienceMilliseconds = 600_000
