import type { Client } from 'pg'
import { createClient } from './client.ts'
import { isAnswer } from './errors.ts'
import type { ServerAddress } from './server-address.ts'
import type { Log } from './settings.ts'

/**
 * Detects whether the database answers this process at all. A statement or a commit may take long, but a probe needs no
 * lock and no disk. If the database does not even answer a probe for about a second, it is unreachable, and all callers
 * that wait for it get an error. Costs nothing while answers arrive, because a probe is sent only after a third of a
 * second without an answer.
 */
export interface DatabaseLiveness {
  /**
   * Records that a request to the database begins. The returned function is to be called when it ends, with true if the
   * database answered, false if not, or nothing if that is not known.
   */
  began(): (isAnswered?: boolean) => void
  /** Records that the database answered. */
  answered(): void
  /**
   * Returns the result of `work`. Rejects with an `isUnreachable` error as soon as the database becomes unreachable. If
   * it is unreachable already, `work` does not begin.
   */
  readonly failFast: <T>(work: () => Promise<T>) => Promise<T>
  /** Returns how often the database has become unreachable. Connections made before the latest outage may be broken. */
  outages(): number
  /** Calls `back` whenever the database answers again. */
  onBack(back: () => void): void
  close(): void
}

const tickMilliseconds = 100
const ticksBeforeAsking = 3
const ticksBeforeUnreachable = 12
/** Number of ticks between probes of an unreachable database. Two probes a second do not slow down its start. */
const ticksBetween = 5
/**
 * Seconds to wait for an answer on the open connection. After that, a probe on a new connection shows whether only the
 * old connection is broken.
 */
const openSeconds = 0.4

interface UnreachableError extends Error {
  readonly unreachable: true
}

export const isUnreachable = (error: unknown): error is UnreachableError =>
  error instanceof Error && 'unreachable' in error

const unreachable = (): UnreachableError =>
  Object.assign(new Error('the database does not answer'), { unreachable: true as const })

export function watchLiveness(address: ServerAddress, connectionSeconds: number, log: Log): DatabaseLiveness {
  /**
   * Callbacks of the callers to notify. Elements are reused, because a `Set` keeps deleted entries for a while
   * (docs/decisions/0061).
   */
  const waiting: ((() => void) | undefined)[] = []
  const free: number[] = []
  const backs: (() => void)[] = []
  let requests = 0
  let isSuspect = false
  let silentTicks = 0
  let outages = 0
  let state: 'reachable' | 'unreachable' | 'closed' = 'reachable'
  let timer: NodeJS.Timeout | undefined
  let probing: Promise<void> | undefined
  let client: Client | undefined

  function answered(): void {
    silentTicks = 0
    isSuspect = false
    if (state !== 'unreachable') return
    state = 'reachable'
    log.warn('the database answers again')
    for (const back of backs) back()
  }

  function declareUnreachable(): void {
    if (state !== 'reachable' || silentTicks < ticksBeforeUnreachable) return
    state = 'unreachable'
    outages++
    log.warn('the database does not answer: requests are refused until it does')
    for (const reject of [...waiting]) reject?.()
  }

  // If this process itself was blocked, the time of the block counts as one tick. Answers that have arrived meanwhile
  // are read before the database is declared unreachable.
  function tick(): void {
    if (!isWatching()) {
      stopTicking()
      return
    }
    silentTicks++
    if (state === 'unreachable' ? silentTicks % ticksBetween === 0 : silentTicks >= ticksBeforeAsking) {
      probing ??= probe().finally(() => (probing = undefined))
    }
    if (silentTicks >= ticksBeforeUnreachable) setImmediate(declareUnreachable)
  }

  const isWatching = (): boolean => requests > 0 || isSuspect || state === 'unreachable'

  function stopTicking(): void {
    clearInterval(timer)
    timer = undefined
    silentTicks = 0
  }

  async function probe(): Promise<void> {
    try {
      await sendProbe()
      answered()
    } catch (error) {
      if (isAnswer(error)) answered()
    }
  }

  async function sendProbe(): Promise<void> {
    const open = client
    if (open !== undefined) {
      try {
        await emptyQuery(open, openSeconds)
        return
      } catch {
        drop(open)
      }
    }
    if (state === 'closed') return
    const fresh = connected()
    try {
      await fresh.connect()
      await emptyQuery(fresh, connectionSeconds)
    } catch (error) {
      drop(fresh)
      throw error
    }
  }

  function connected(): Client {
    const fresh = createClient(address, {
      application_name: 'gateway liveness',
      connectionTimeoutMillis: connectionSeconds * 1000,
      keepAlive: true,
    })
    client = fresh
    fresh.on('error', () => drop(fresh))
    return fresh
  }

  function drop(old: Client): void {
    if (client === old) client = undefined
    old.end().catch(() => undefined)
  }

  return {
    began: () => {
      requests++
      timer ??= state === 'closed' ? undefined : setInterval(tick, tickMilliseconds).unref()
      return (isAnswered) => {
        requests--
        if (isAnswered === true) answered()
        else if (isAnswered === false) isSuspect = true
        // The next tick would only wake the process to end the ticks.
        if (!isWatching()) stopTicking()
      }
    },
    answered,
    failFast: (work) => {
      if (state === 'unreachable') return Promise.reject(unreachable())
      return new Promise((resolve, reject) => {
        const at = free.pop() ?? waiting.length
        waiting[at] = () => reject(unreachable())
        void work()
          .then(resolve, reject)
          .finally(() => {
            waiting[at] = undefined
            free.push(at)
          })
      })
    },
    outages: () => outages,
    onBack: (back) => void backs.push(back),
    close: () => {
      state = 'closed'
      stopTicking()
      if (client !== undefined) drop(client)
    },
  }
}

const emptyQuery = (client: Client, seconds: number): Promise<unknown> =>
  client.query({ text: 'select', query_timeout: seconds * 1000 } as { text: string })
