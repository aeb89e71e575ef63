import type { Connections } from './connections.ts'
import { isAnswer } from './errors.ts'
import type { Log } from './settings.ts'
import { probeRoom, probeWrite, sortOnDisk, waitsForStandby } from './sql/server.ts'
import { reasonOf, writeTrouble, type WriteTrouble } from './write-trouble.ts'

/**
 * Whether this process can write (P-19). While nobody asks and nothing fails it does nothing. Whoever asks has it write
 * a record; what fails has it do so three times a second, until it succeeds.
 */
export interface WriteHealth {
  /** A statement, or a connection for it, failed with this. */
  failed(error: unknown): void
  /** Within 0.8 s. Undefined: it can, or has failed for less than 1 s. */
  trouble(): Promise<WriteTrouble | undefined>
  /** What is known, without asking. */
  known(): WriteTrouble | undefined
  /** Begins nothing more; resolves when what it is at has ended. */
  close(): Promise<void>
}

export interface WriteProbes {
  /**
   * Writes as every statement does; resolves to what it cannot do. Throws if that fails; without an answer it stays
   * pending.
   */
  readonly write: (isRoomAsked: boolean) => Promise<WriteTrouble['reason'] | undefined>
  /** Why a write has no answer. Throws where that has none either. */
  readonly whyPending: () => Promise<WriteTrouble['reason']>
}

const betweenMilliseconds = 300
const answerMilliseconds = 700
/** So long writes fail, or one has no answer, until that counts: a commit may take long under load. */
const patienceMilliseconds = { pending: 1000, failed: 1000, certain: 0 }
/** A server that is the wrong one, and a full disk, do not pass by themselves in a moment. */
const certain = new Set<WriteTrouble['reason']>(['read-only', 'old-primary', 'other-database', 'disk-full'])
/** A look at the room takes the database 2 ms, and a record fits on a full disk. */
const roomMilliseconds = 1500

/** `now` is a clock in milliseconds that never goes back. */
export function watchWrites(probes: WriteProbes, log: Log, now: () => number = () => performance.now()): WriteHealth {
  let failing: { readonly since: number; reason: WriteTrouble['reason'] } | undefined
  let lastFailure = -Infinity
  let lastRoom = -Infinity
  let told: WriteTrouble | undefined
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
    tell()
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
        tell()
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
    tell()
  }

  function known(): WriteTrouble | undefined {
    if (failing === undefined) return undefined
    const patience = certain.has(failing.reason) ? patienceMilliseconds.certain : patienceMilliseconds.failed
    return now() - failing.since >= patience ? writeTrouble(failing.reason) : undefined
  }

  function tell(): void {
    const trouble = known()
    if (trouble !== undefined) for (const answer of asking) answer()
    if (trouble?.reason === told?.reason || (trouble === undefined && failing !== undefined)) return
    told = trouble
    if (trouble === undefined) log.warn('the database takes writes again')
    else log.warn(`the database takes no writes (${trouble.reason}): ${trouble.message}`)
  }

  return {
    failed: (error) => {
      const reason = reasonOf(error)
      if (reason !== undefined) fail(reason)
    },
    trouble: async () => {
      let answer: () => void = () => undefined
      const found = new Promise<void>((resolve) => asking.add((answer = resolve)))
      await Promise.race([atMost(answerMilliseconds, probe()), found])
      asking.delete(answer)
      tell()
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

async function atMost(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)))
  await Promise.race([work, late])
  clearTimeout(timer)
}

/** On the connections that messages are accepted on: one of them stays open so, also where the server has none left. */
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
