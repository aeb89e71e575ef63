import type { Client } from 'pg'
import { createClient } from './client.ts'
import { isAnswer } from './errors.ts'
import type { ServerAddress } from './server-address.ts'
import type { Log } from './settings.ts'

/**
 * Whether the database says anything at all to this process. A statement may take long, and a commit too; but a
 * database that says nothing for a second, not even to a question that needs no lock and no disk, is unreachable, and
 * whoever waits for it is told so. Costs nothing while answers come: the question is asked only after a third of a
 * second without any.
 */
export interface DatabaseLiveness {
  /**
   * Something is asked of the database; to be called back when that has ended, with whether it was answered, if that is
   * known.
   */
  asked(): (isAnswered?: boolean) => void
  /** An answer came. */
  answered(): void
  /**
   * What `work` resolves to; an `isUnreachable` error as soon as the database is unreachable. If it is unreachable
   * already, `work` is not begun.
   */
  readonly failFast: <T>(work: () => Promise<T>) => Promise<T>
  /** How often it has been unreachable since the start: connections made before are not to be trusted. */
  outages(): number
  /** Calls `back` whenever the database has come back. */
  onBack(back: () => void): void
  close(): void
}

const tickMilliseconds = 100
const ticksBeforeAsking = 3
const ticksBeforeUnreachable = 12
/** While it is unreachable: two questions a second do not get in its way while it starts. */
const ticksBetween = 5
/** So long for a connection that is open; then a new one may tell whether it is only that connection. */
const openSeconds = 0.4

interface UnreachableError extends Error {
  readonly unreachable: true
}

export const isUnreachable = (error: unknown): error is UnreachableError =>
  error instanceof Error && 'unreachable' in error

const unreachable = (): UnreachableError =>
  Object.assign(new Error('the database does not answer'), { unreachable: true as const })

export function watchLiveness(address: ServerAddress, connectionSeconds: number, log: Log): DatabaseLiveness {
  /** Whom to tell, in places that are used again: a `Set` would keep what was deleted (docs/decisions/0061). */
  const waiting: ((() => void) | undefined)[] = []
  const free: number[] = []
  const backs: (() => void)[] = []
  let asking = 0
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
    for (const tell of [...waiting]) tell?.()
  }

  // A process that was held up itself counts one tick for all that time, and reads what has arrived before it judges.
  function tick(): void {
    if (asking === 0 && !isSuspect && state !== 'unreachable') {
      stopTicking()
      return
    }
    silentTicks++
    if (state === 'unreachable' ? silentTicks % ticksBetween === 0 : silentTicks >= ticksBeforeAsking) {
      probing ??= probe().finally(() => (probing = undefined))
    }
    if (silentTicks >= ticksBeforeUnreachable) setImmediate(declareUnreachable)
  }

  function stopTicking(): void {
    clearInterval(timer)
    timer = undefined
    silentTicks = 0
  }

  async function probe(): Promise<void> {
    try {
      await ask()
      answered()
    } catch (error) {
      if (isAnswer(error)) answered()
    }
  }

  async function ask(): Promise<void> {
    const open = client
    if (open !== undefined) {
      try {
        await say(open, openSeconds)
        return
      } catch {
        drop(open)
      }
    }
    if (state === 'closed') return
    const fresh = connected()
    try {
      await fresh.connect()
      await say(fresh, connectionSeconds)
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
    asked: () => {
      asking++
      timer ??= state === 'closed' ? undefined : setInterval(tick, tickMilliseconds).unref()
      return (isAnswered) => {
        asking--
        if (isAnswered === true) answered()
        else if (isAnswered === false) isSuspect = true
      }
    },
    answered,
    failFast: (work) => {
      if (state === 'unreachable') return Promise.reject(unreachable())
      return new Promise((resolve, reject) => {
        const tell = () => reject(unreachable())
        const at = free.pop() ?? waiting.length
        waiting[at] = tell
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

const say = (client: Client, seconds: number): Promise<unknown> =>
  client.query({ text: 'select', query_timeout: seconds * 1000 } as { text: string })
