import { NothingDoneError } from '@gateway/core'
import type { Connections } from './connections.ts'
import { isAnswer } from './errors.ts'
import type { Log } from './settings.ts'
import { probeRoom, probeWrite, sortOnDisk, waitsForStandby } from './sql/server.ts'
import { waitAtMost } from './wait-at-most.ts'
import { reasonOf, writeTrouble, type WriteTrouble } from './write-trouble.ts'
import { isUnreachable } from './database-liveness.ts'

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
 * Interval between checks of the free space, each of which takes 2 ms. The checks are needed because a short write
 * may succeed although the disk is practically full.
 */
const roomMilliseconds = 1500

/**
 * Detects whether this process can write (P-19). The detector does nothing until a caller asks or a statement fails. To
 * answer a caller it writes one record. After a failure it writes three times a second until a write succeeds.
 */
export class WriteHealth {
  readonly #probes: WriteProbes
  readonly #log: Log
  readonly #now: () => number
  /** Defined from the first failed write until a later write succeeds. */
  #failing: { readonly since: number; readonly reason: WriteTrouble['reason'] } | undefined
  #lastFailure = -Infinity
  #lastRoom = -Infinity
  #logged: WriteTrouble | undefined
  /** Callers of `trouble` that wait for an answer. */
  readonly #asking = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  #probing: { readonly begun: number; readonly ended: Promise<void> } | undefined

  /** `now` is a monotonic clock in milliseconds. */
  constructor(probes: WriteProbes, log: Log, now: () => number = () => performance.now()) {
    this.#probes = probes
    this.#log = log
    this.#now = now
  }

  /** Records the error of a statement, or of the connection for a statement. */
  failed(error: unknown): void {
    const reason = reasonOf(error)
    if (reason !== undefined) this.#fail(reason)
  }

  /**
   * Returns the reason why writes fail, within 0.8 s. Returns undefined if writes succeed or have failed for less than
   * 1 s.
   */
  async trouble(): Promise<WriteTrouble | undefined> {
    let answer: () => void = () => undefined
    const found = new Promise<void>((resolve) => this.#asking.add((answer = resolve)))
    await Promise.race([waitAtMost(answerMilliseconds / 1000, this.#probe()), found])
    this.#asking.delete(answer)
    this.#report()
    return this.known()
  }

  /** Returns the known reason without asking the database. */
  known(): WriteTrouble | undefined {
    if (this.#failing === undefined) return undefined
    const { reason, since } = this.#failing
    const patience = certain.has(reason) ? patienceMilliseconds.certain : patienceMilliseconds.failed
    return this.#now() - since >= patience ? writeTrouble(reason) : undefined
  }

  /** Stops probing. Resolves when a probe in progress has ended. */
  close(): Promise<void> {
    this.#isClosed = true
    this.#stopWatching()
    return this.#probing?.ended ?? Promise.resolve()
  }

  #fail(reason: WriteTrouble['reason']): void {
    this.#lastFailure = this.#now()
    this.#failing = { since: this.#failing?.since ?? this.#lastFailure, reason }
    this.#watch()
  }

  #watch(): void {
    if (!this.#isClosed) this.#timer ??= setInterval(() => this.#look(), betweenMilliseconds).unref()
  }

  #stopWatching(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    void this.#probe()
    this.#report()
    if (this.#failing === undefined && this.#probing === undefined) this.#stopWatching()
  }

  #probe(): Promise<void> {
    if (this.#probing !== undefined) {
      void this.#judgePending(this.#probing)
      return this.#probing.ended
    }
    const begun = this.#now()
    const isRoomAsked = this.#failing !== undefined || begun - this.#lastRoom > roomMilliseconds
    const ended = this.#write(begun, isRoomAsked).finally(() => {
      this.#probing = undefined
      this.#report()
    })
    this.#probing = { begun, ended }
    this.#watch()
    return ended
  }

  async #write(begun: number, isRoomAsked: boolean): Promise<void> {
    try {
      const reason = await this.#probes.write(isRoomAsked)
      if (reason !== undefined) {
        this.#fail(reason)
        return
      }
      if (isRoomAsked) this.#lastRoom = begun
      if (this.#lastFailure <= begun) this.#failing = undefined
    } catch (error) {
      this.#fail(reasonOf(error) ?? (isAnswer(error) ? 'refused' : (this.#failing?.reason ?? 'no-answer')))
    }
  }

  async #judgePending({ begun, ended }: { readonly begun: number; readonly ended: Promise<void> }): Promise<void> {
    if (this.#now() - begun < patienceMilliseconds.pending) return
    const reason = await this.#probes.whyPending().catch(() => 'no-answer' as const)
    if (this.#probing?.ended !== ended) return
    this.#lastFailure = this.#now()
    this.#failing = { since: this.#failing?.since ?? begun, reason }
    this.#report()
  }

  #report(): void {
    const trouble = this.known()
    if (trouble !== undefined) for (const answer of this.#asking) answer()
    if (trouble?.reason === this.#logged?.reason || (trouble === undefined && this.#failing !== undefined)) return
    this.#logged = trouble
    if (trouble === undefined) this.#log.warn('the database accepts writes again')
    else this.#log.warn(`the database does not accept writes (${trouble.reason}): ${trouble.message}`)
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
