import type { Client } from 'pg'
import { createClient } from './client.ts'
import { isAnswer } from './errors.ts'
import type { ServerAddress } from './server-address.ts'
import type { Log } from './settings.ts'

/**
 * Whether the database says anything at all to this process. A statement may take long, and a commit too; but a database that
 * says nothing for a second, not even to a question that needs no lock and no disk, is gone, and whoever waits for it is told
 * so. Costs nothing while answers come: the question is asked only after a third of a second without any.
 */
export interface Pulse {
  /** Something is asked of the database; to be called back when that has ended, with whether it was answered, if that is known. */
  asked(): (isAnswered?: boolean) => void
  /** An answer came. */
  answered(): void
  /** What `work` resolves to; an `isGone` error as soon as the database is gone. If it is gone already, `work` is not begun. */
  readonly unlessGone: <T>(work: () => Promise<T>) => Promise<T>
  /** How often it has been gone since the start: connections made before are not to be trusted. */
  outages(): number
  /** Calls `back` whenever the database has come back. */
  onBack(back: () => void): void
  close(): void
}

const tickMilliseconds = 100
const ticksBeforeAsking = 3
const ticksBeforeGone = 12
/** While it is gone: two questions a second do not get in its way while it starts. */
const ticksBetween = 5
/** So long for a connection that is open; then a new one may tell whether it is only that connection. */
const openSeconds = 0.4

interface GoneError extends Error {
  readonly gone: true
}

export const isGone = (error: unknown): error is GoneError => error instanceof Error && 'gone' in error

const gone = (): GoneError => Object.assign(new Error('the database does not answer'), { gone: true as const })

export function watchPulse(address: ServerAddress, connectionSeconds: number, log: Log): Pulse {
  const waiting = new Set<() => void>()
  const backs: (() => void)[] = []
  let asking = 0
  let isSuspect = false
  let silentTicks = 0
  let outages = 0
  let state: 'there' | 'gone' | 'closed' = 'there'
  let timer: NodeJS.Timeout | undefined
  let probing: Promise<void> | undefined
  let client: Client | undefined

  function answered(): void {
    silentTicks = 0
    isSuspect = false
    if (state !== 'gone') return
    state = 'there'
    log.warn('the database answers again')
    for (const back of backs) back()
  }

  function declareGone(): void {
    if (state !== 'there' || silentTicks < ticksBeforeGone) return
    state = 'gone'
    outages++
    log.warn('the database does not answer: requests are refused until it does')
    const all = [...waiting]
    waiting.clear()
    for (const tell of all) tell()
  }

  // A process that was held up itself counts one tick for all that time, and reads what has arrived before it judges.
  function tick(): void {
    if (asking === 0 && !isSuspect && state !== 'gone') {
      stopTicking()
      return
    }
    silentTicks++
    if (state === 'gone' ? silentTicks % ticksBetween === 0 : silentTicks >= ticksBeforeAsking) {
      probing ??= probe().finally(() => (probing = undefined))
    }
    if (silentTicks >= ticksBeforeGone) setImmediate(declareGone)
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
      application_name: 'gateway pulse',
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
    unlessGone: (work) => {
      if (state === 'gone') return Promise.reject(gone())
      return new Promise((resolve, reject) => {
        const tell = () => reject(gone())
        waiting.add(tell)
        void work()
          .then(resolve, reject)
          .finally(() => waiting.delete(tell))
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
