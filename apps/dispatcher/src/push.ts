import type { Ports } from '@gateway/core'
import { EventPusher, type PushCounts } from '@gateway/core/webhooks'
import { outageOf, repeat, type Log, type Repeated } from '@gateway/server'
import { webhookBody } from '@gateway/wire'

type StoringPorts = Pick<Ports, 'claimedBatches' | 'deliveryReceipts' | 'inbox'>

export interface PushingSettings {
  readonly ports: Pick<Ports, 'webhooks' | 'webhookClient' | 'secretBox' | 'clock'>
  readonly log: Log
  /**
   * Returns the pause between polls while this process stores no events; by default a second. `wake` ends the pause.
   */
  readonly quietMilliseconds?: () => number
  /** Returns true while this process is notified of events of other processes; by default never. */
  readonly isSoundAsleep?: () => boolean
}

export interface Pushing {
  /** Ends the pause, because another process may have stored events. */
  wake(): void
  /** Wraps ports so that events stored by this process are pushed without waiting for the next poll. */
  waking<P extends StoringPorts>(ports: P): P
  counts(): PushCounts
  /** Returns the number of requests in progress. */
  requests(): number
  /** Stops, and waits at most `seconds` for requests in progress. */
  stop(seconds: number): Promise<void>
}

/** Milliseconds between two polls for events; a poll without a result costs the database 0.1 ms. */
const pauseMilliseconds = 50
/**
 * Shortest pause in milliseconds while this process stores no events. A process that is awake is not notified of events
 * of other processes, so it has to poll for them.
 */
const quietMillisecondsMin = 250
/** Milliseconds for which the pauses stay short after an event was stored. */
const stirredMilliseconds = 1000
/**
 * Milliseconds between two polls for started replays of a process that sleeps. A sleeping process is notified of them,
 * so a longer pause delays only a replay whose notification was lost.
 */
const asleepReplayMilliseconds = 20_000
const purgeMilliseconds = 600_000
const purgedMax = 1000

/** Pushes events to the endpoints of accounts, in its own loop, until stopped (P-11). */
export const startPushing = (settings: PushingSettings): Pushing => new EventsPushing(settings)

class EventsPushing implements Pushing {
  readonly #webhooks: PushingSettings['ports']['webhooks']
  readonly #quietMilliseconds: () => number
  readonly #isSoundAsleep: () => boolean
  readonly #pusher: EventPusher
  readonly #claiming: Repeated
  readonly #purging: Repeated
  readonly #replaying: Repeated
  #stirredAt = -Infinity
  /** True if work arrived during a poll, so that the next poll begins at once. */
  #isWoken = false
  #isReplaying = false
  #isStopping = false

  constructor({ ports, log, quietMilliseconds = () => 1000, isSoundAsleep = () => false }: PushingSettings) {
    this.#webhooks = ports.webhooks
    this.#quietMilliseconds = quietMilliseconds
    this.#isSoundAsleep = isSoundAsleep
    const outage = outageOf('push events', log)
    const seldom = atMostEvery(60_000)
    this.#pusher = new EventPusher(ports, {
      bodyOf: webhookBody,
      chance: Math.random,
      roomAgain: () => {
        outage.worked()
        this.#claiming.wake()
      },
      report: (problem) => outage.failed(problem),
      unreadable: ({ id, webhook, unreadable }) =>
        seldom(() => log.error({ list: id, webhook: webhook.id, events: unreadable }, 'a stored event cannot be read')),
    })
    this.#claiming = repeat({
      name: 'claim events',
      pauseMilliseconds: () => this.#pause(),
      log,
      work: () => this.#claim(),
    })
    this.#purging = repeat({
      name: 'drop events',
      pauseMilliseconds: purgeMilliseconds,
      log,
      work: async () => ((await ports.webhooks.purge(purgedMax)) < purgedMax ? 'all' : 'more'),
    })
    this.#replaying = repeat({
      name: 'replay events',
      pauseMilliseconds: () => this.#replayPause(),
      log,
      work: () => this.#replay(),
    })
  }

  wake(): void {
    this.#wakeClaiming()
    if (!this.#isReplaying) this.#replaying.wake()
  }

  waking<P extends StoringPorts>(ports: P): P {
    const stored = <R>(result: R): R => this.#stored(result)
    return {
      ...ports,
      claimedBatches: wakingAfter(ports.claimedBatches, ['record', 'settle', 'recover', 'expire'], stored),
      deliveryReceipts: wakingAfter(ports.deliveryReceipts, ['apply', 'match'], stored),
      inbox: wakingAfter(ports.inbox, ['receive', 'releaseParts'], stored),
    }
  }

  counts(): PushCounts {
    return this.#pusher.counts()
  }

  requests(): number {
    return this.#pusher.state().requests
  }

  async stop(seconds: number): Promise<void> {
    this.#isStopping = true
    const passed = new Promise<void>((resolve) => setTimeout(resolve, seconds * 1000).unref())
    await Promise.all([this.#claiming.stop(), this.#purging.stop(), this.#replaying.stop()])
    await this.#pusher.drain(passed)
  }

  async #claim(): Promise<'more' | 'all' | 'end'> {
    if (this.#isStopping) return 'end'
    this.#isWoken = false
    const found = await this.#pusher.work()
    if (found === 'more') this.#stir()
    return this.#wasWoken() ? 'more' : found
  }

  async #replay(): Promise<'all' | 'end'> {
    if (this.#isStopping) return 'end'
    this.#isReplaying = (await this.#webhooks.advanceReplay()) !== 'none'
    if (this.#isReplaying) this.#wakeClaiming()
    return 'all'
  }

  /**
   * Returns the pause until the next poll. The pause ends in time to retry the lists whose push failed in this process.
   */
  #pause(): number {
    const { requests, unstored, nextMilliseconds } = this.#pusher.state()
    // Poll soon, because the results of requests have to be stored.
    if (this.#isStirred() || requests + unstored > 0) return pauseMilliseconds
    const longest = Math.max(quietMillisecondsMin, this.#quietMilliseconds())
    return Math.max(pauseMilliseconds, Math.min(longest, nextMilliseconds))
  }

  #replayPause(): number {
    // The pause between two steps of a replay gives other work its turn.
    if (this.#isReplaying) return pauseMilliseconds
    return this.#isSoundAsleep() ? asleepReplayMilliseconds : Math.max(quietMillisecondsMin, this.#quietMilliseconds())
  }

  #wakeClaiming(): void {
    this.#isWoken = true
    this.#claiming.wake()
  }

  #wasWoken(): boolean {
    return this.#isWoken
  }

  #stir(): void {
    this.#stirredAt = performance.now()
  }

  #isStirred(): boolean {
    return performance.now() - this.#stirredAt < stirredMilliseconds
  }

  /**
   * Ends the long pause of the loop after events were stored. Short pauses are kept, because they limit how often the
   * loop polls.
   */
  #stored<R>(result: R): R {
    if (isNothing(result)) return result
    const wasQuiet = !this.#isStirred()
    this.#stir()
    if (wasQuiet) this.#claiming.wake()
    return result
  }
}

/**
 * Returns a function that runs `call` at most once within this many milliseconds, because it may be invoked thousands
 * of times.
 */
function atMostEvery(milliseconds: number): (call: () => void) => void {
  let last = -Infinity
  return (call) => {
    if (performance.now() - last < milliseconds) return
    last = performance.now()
    call()
  }
}

/**
 * True for the result of a call that changed nothing. Such calls must not count as changes: when they did, an idle
 * process used 1.8 % of a core.
 */
function isNothing(result: unknown): boolean {
  if (typeof result === 'object' && result !== null && !Array.isArray(result))
    return Object.values(result).every((count) => count === 0)
  return result === 0
}

/** Wraps a port to call `after` with the results of these methods. */
function wakingAfter<P extends object>(port: P, methods: readonly (keyof P)[], after: <R>(result: R) => R): P {
  const waking = methods.map((name) => {
    const method = port[name] as unknown as (...args: readonly unknown[]) => Promise<unknown>
    return [name, (...args: readonly unknown[]) => method(...args).then(after)] as const
  })
  return { ...port, ...Object.fromEntries(waking) }
}
