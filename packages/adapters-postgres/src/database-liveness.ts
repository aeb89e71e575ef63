import type { Client } from 'pg'
import { createClient } from './client.ts'
import { isAnswer } from './errors.ts'
import type { ServerAddress } from './server-address.ts'
import type { Log } from './settings.ts'

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

/**
 * Detects whether the database answers this process at all. A statement or a commit may take long, but a probe needs no
 * lock and no disk. If the database does not even answer a probe for about a second, it is unreachable, and all callers
 * that wait for it get an error. Costs nothing while answers arrive, because a probe is sent only after a third of a
 * second without an answer.
 *
 * | state       | callers    | probes                              | next                |
 * | ----------- | ---------- | ----------------------------------- | ------------------- |
 * | reachable   | wait       | after a third of a second of silence | unreachable, closed |
 * | unreachable | get errors | twice a second                      | reachable, closed   |
 * | closed      | wait       | none                                | none                |
 */
export class DatabaseLiveness {
  readonly #address: ServerAddress
  readonly #connectionSeconds: number
  readonly #log: Log
  /**
   * Callbacks of the callers to notify. Elements are reused, because a `Set` keeps deleted entries for a while
   * (docs/decisions/0061).
   */
  readonly #waiting: ((() => void) | undefined)[] = []
  readonly #free: number[] = []
  readonly #backs: (() => void)[] = []
  #requests = 0
  /** True if a request ended without an answer and nothing has been answered since. */
  #isSuspect = false
  #silentTicks = 0
  #outages = 0
  #state: 'reachable' | 'unreachable' | 'closed' = 'reachable'
  #timer: NodeJS.Timeout | undefined
  #probing: Promise<void> | undefined
  #client: Client | undefined

  constructor(address: ServerAddress, connectionSeconds: number, log: Log) {
    this.#address = address
    this.#connectionSeconds = connectionSeconds
    this.#log = log
  }

  /**
   * Records that a request to the database begins. The returned function is to be called when it ends, with true if the
   * database answered, false if not, or nothing if that is not known.
   */
  began(): (isAnswered?: boolean) => void {
    this.#requests++
    if (this.#state !== 'closed') this.#timer ??= setInterval(() => this.#tick(), tickMilliseconds).unref()
    return (isAnswered) => {
      this.#requests--
      if (isAnswered === true) this.answered()
      else if (isAnswered === false) this.#isSuspect = true
      // Stop ticking now, because the next tick would wake the process only to do that.
      if (!this.#isWatching()) this.#stopTicking()
    }
  }

  /** Records that the database answered. */
  answered(): void {
    this.#silentTicks = 0
    this.#isSuspect = false
    if (this.#state !== 'unreachable') return
    this.#state = 'reachable'
    this.#log.warn('the database answers again')
    for (const back of this.#backs) back()
  }

  /**
   * Returns the result of `work`. Rejects with an `isUnreachable` error as soon as the database becomes unreachable. If
   * it is unreachable already, `work` does not begin.
   */
  failFast<T>(work: () => Promise<T>): Promise<T> {
    if (this.#state === 'unreachable') return Promise.reject(unreachable())
    return new Promise((resolve, reject) => {
      const at = this.#free.pop() ?? this.#waiting.length
      this.#waiting[at] = () => reject(unreachable())
      void work()
        .then(resolve, reject)
        .finally(() => {
          this.#waiting[at] = undefined
          this.#free.push(at)
        })
    })
  }

  /** How often the database has become unreachable. Connections made before the latest outage may be broken. */
  get outages(): number {
    return this.#outages
  }

  /** Calls `back` whenever the database answers again. */
  onBack(back: () => void): void {
    this.#backs.push(back)
  }

  close(): void {
    this.#state = 'closed'
    this.#stopTicking()
    if (this.#client !== undefined) this.#drop(this.#client)
  }

  /**
   * Counts the time without an answer. If this process itself was blocked, the time of the block counts as one tick.
   * Answers that have arrived meanwhile are read before the database is declared unreachable.
   */
  #tick(): void {
    if (!this.#isWatching()) {
      this.#stopTicking()
      return
    }
    this.#silentTicks++
    const isUnreachable = this.#state === 'unreachable'
    if (isUnreachable ? this.#silentTicks % ticksBetween === 0 : this.#silentTicks >= ticksBeforeAsking)
      this.#startProbe()
    if (this.#silentTicks >= ticksBeforeUnreachable) setImmediate(() => this.#declareUnreachable())
  }

  #startProbe(): void {
    if (this.#probing !== undefined) return
    this.#probing = this.#probe().finally(() => (this.#probing = undefined))
  }

  #isWatching(): boolean {
    return this.#requests > 0 || this.#isSuspect || this.#state === 'unreachable'
  }

  #stopTicking(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#silentTicks = 0
  }

  #declareUnreachable(): void {
    if (this.#state !== 'reachable' || this.#silentTicks < ticksBeforeUnreachable) return
    this.#state = 'unreachable'
    this.#outages++
    this.#log.warn('the database does not answer: requests are refused until it does')
    for (const reject of [...this.#waiting]) reject?.()
  }

  async #probe(): Promise<void> {
    try {
      await this.#sendProbe()
      this.answered()
    } catch (error) {
      if (isAnswer(error)) this.answered()
    }
  }

  async #sendProbe(): Promise<void> {
    const open = this.#client
    if (open !== undefined) {
      try {
        await emptyQuery(open, openSeconds)
        return
      } catch {
        this.#drop(open)
      }
    }
    if (this.#state === 'closed') return
    const fresh = this.#createClient()
    try {
      await fresh.connect()
      await emptyQuery(fresh, this.#connectionSeconds)
    } catch (error) {
      this.#drop(fresh)
      throw error
    }
  }

  #createClient(): Client {
    const fresh = createClient(this.#address, {
      application_name: 'gateway liveness',
      connectionTimeoutMillis: this.#connectionSeconds * 1000,
      keepAlive: true,
    })
    this.#client = fresh
    fresh.on('error', () => this.#drop(fresh))
    return fresh
  }

  #drop(old: Client): void {
    if (this.#client === old) this.#client = undefined
    old.end().catch(() => undefined)
  }
}

const emptyQuery = (client: Client, seconds: number): Promise<unknown> =>
  client.query({ text: 'select', query_timeout: seconds * 1000 } as { text: string })
