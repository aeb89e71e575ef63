import { NothingDoneError } from '@gateway/core'
import type { Connections } from './connections.ts'
import { isAnswer } from './errors.ts'
import type { Log } from './settings.ts'
import { probeRoom, probeWrite, sortOnDisk, waitsForStandby } from './sql/server.ts'
import { waitAtMost } from './wait-at-most.ts'
import { reasonOf, writeTrouble, type WriteTrouble } from './write-trouble.ts'
import { isUnreachable } from './database-liveness.ts'

/**
 * Detects whether this process can write (P-19). The detector does nothing until a caller asks or a statement fails. To
 * answer a caller it writes one record. After a failure it writes three times a second until a write succeeds.
 */
export interface WriteHealth {
  /** Records the error of a statement, or of the connection for a statement. */
  failed(error: unknown): void
  /**
   * Returns the reason why writes fail, within 0.8 s. Returns undefined if writes succeed or have failed for less than
   * 1 s.
   */
  trouble(): Promise<WriteTrouble | undefined>
  /** Returns the known reason without asking the database. */
  known(): WriteTrouble | undefined
  /** Stops probing. Resolves when a probe in progress has ended. */
  close(): Promise<void>
}

export interface WriteProbes {
  /**
   * Writes a record in the same way as every statement, and checks the free space if `isRoomAsked`. Resolves to the
   * reason if the server is read-only. Rejects with the error of a failed write, and stays pending if there is no
   * answer.
   */
  readonly write: (isRoomAsked: boolean) => Promise<WriteTrouble['reason'] | undefined>
  /** Returns the reason why a write has no answer. Throws if this query has no answer either. */
  readonly whyPending: () => Promise<WriteTrouble['reason']>
}

/** Interval between two probes. */
const betweenMilliseconds = 300
/** Longest time for which `trouble` waits for a probe. */
const answerMilliseconds = 700
/**
 * Time for which writes must fail, or one write must be pending, before the trouble is reported. A commit may take long
 * under load.
 */
const patienceMilliseconds = { pending: 1000, failed: 1000, certain: 0 }
/** Reasons that are reported at once, because they do not pass by themselves. */
const certain = new Set<WriteTrouble['reason']>(['read-only', 'old-primary', 'other-database', 'disk-full'])
/**
 * Interval between checks of the free space, each of which takes 2 ms. The checks are needed because a record may still
 * fit on a full disk.
 */
const roomMilliseconds = 1500

/** Creates a detector. `now` is a monotonic clock in milliseconds. */
export function watchWrites(probes: WriteProbes, log: Log, now: () => number = () => performance.now()): WriteHealth {
  let failing: { readonly since: number; reason: WriteTrouble['reason'] } | undefined
  let lastFailure = -Infinity
  let lastRoom = -Infinity
  let logged: WriteTrouble | undefined
  const asking = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let probing: { readonly begun: number; readonly ended: Promise<void> } | undefined

  function fail(reason: WriteTrouble['reason']): void {
    lastFailure = now()
    failing = { since: failing?.since ?? lastFailure, reason }
    watch()
  }

  function watch(): void {
    if (!isClosed) timer ??= setInterval(look, betweenMilliseconds).unref()
  }

  function look(): void {
    void probe()
    report()
    if (failing !== undefined || probing !== undefined) return
    clearInterval(timer)
    timer = undefined
  }

  function probe(): Promise<void> {
    if (probing !== undefined) {
      void judgePending(probing)
      return probing.ended
    }
    const begun = now()
    const isRoomAsked = failing !== undefined || begun - lastRoom > roomMilliseconds
    const ended = probes
      .write(isRoomAsked)
      .then(
        (reason) => {
          if (reason !== undefined) {
            fail(reason)
            return
          }
          if (isRoomAsked) lastRoom = begun
          if (lastFailure <= begun) failing = undefined
        },
        (error: unknown) => fail(reasonOf(error) ?? (isAnswer(error) ? 'refused' : (failing?.reason ?? 'no-answer'))),
      )
      .finally(() => {
        probing = undefined
        report()
      })
    probing = { begun, ended }
    watch()
    return ended
  }

  async function judgePending({ begun, ended }: { readonly begun: number; readonly ended: Promise<void> }) {
    if (now() - begun < patienceMilliseconds.pending) return
    const reason = await probes.whyPending().catch(() => 'no-answer' as const)
    if (probing?.ended !== ended) return
    lastFailure = now()
    failing = { since: failing?.since ?? begun, reason }
    report()
  }

  function known(): WriteTrouble | undefined {
    if (failing === undefined) return undefined
    const patience = certain.has(failing.reason) ? patienceMilliseconds.certain : patienceMilliseconds.failed
    return now() - failing.since >= patience ? writeTrouble(failing.reason) : undefined
  }

  function report(): void {
    const trouble = known()
    if (trouble !== undefined) for (const answer of asking) answer()
    if (trouble?.reason === logged?.reason || (trouble === undefined && failing !== undefined)) return
    logged = trouble
    if (trouble === undefined) log.warn('the database accepts writes again')
    else log.warn(`the database does not accept writes (${trouble.reason}): ${trouble.message}`)
  }

  return {
    failed: (error) => {
      const reason = reasonOf(error)
      if (reason !== undefined) fail(reason)
    },
    trouble: async () => {
      let answer: () => void = () => undefined
      const found = new Promise<void>((resolve) => asking.add((answer = resolve)))
      await Promise.race([waitAtMost(answerMilliseconds / 1000, probe()), found])
      asking.delete(answer)
      report()
      return known()
    },
    known,
    close: () => {
      isClosed = true
      clearInterval(timer)
      timer = undefined
      return probing?.ended ?? Promise.resolve()
    },
  }
}

/**
 * Creates probes that use the hot connections, on which messages are accepted. This keeps one hot connection open even
 * if the server has no connection left.
 */
export const writeProbes = (hot: Connections, ordinary: Connections): WriteProbes => ({
  write: async (isRoomAsked) => {
    if (isRoomAsked)
      await hot.failFast.transaction(async (connection) => {
        await connection.run(sortOnDisk, {})
        await connection.run(probeRoom, {})
      })
    const [row] = await hot.failFast.run(probeWrite, {})
    return row?.isReadOnly === true ? 'read-only' : undefined
  },
  whyPending: async () =>
    (await ordinary.failFast.run(waitsForStandby, {})).length > 0 ? 'standby-away' : 'no-answer',
})

/**
 * Throws a `NothingDoneError` while commits wait for a standby, because a change begun now would be stored without its
 * caller getting a response.
 */
export function refuseWhileHeld(writes: Pick<WriteHealth, 'known'>): void {
  const known = writes.known()
  if (known?.reason === 'standby-away') throw new NothingDoneError(known.message)
}

/** Converts an error of one statement or transaction to a `NothingDoneError` if it means that nothing was done. */
export const sayIfNothingDone = (error: unknown): unknown =>
  error instanceof Error && (reasonOf(error) !== undefined || isUnreachable(error))
    ? new NothingDoneError(error.message, { cause: error })
    : error

/** Runs `work`. Throws a `NothingDoneError` if it is refused or its error means that nothing was done. */
export async function orNothingDone<T>(writes: Pick<WriteHealth, 'known'>, work: () => Promise<T>): Promise<T> {
  refuseWhileHeld(writes)
  try {
    return await work()
  } catch (error) {
    throw sayIfNothingDone(error)
  }
}
