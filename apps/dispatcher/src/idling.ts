import type { Asleep, ClaimedBatches, Sleeper } from '@gateway/core/dispatch'
import { outageOf, type Log, type Outage } from '@gateway/server'

export interface IdlingOptions {
  readonly claimedBatches: Pick<ClaimedBatches, 'sleeper'>
  readonly settings: PollSettings
  readonly log: Log
  /**
   * Ends the current pauses. Called because work may have become due, or because the process has left its sleep, during
   * which pauses are long.
   */
  readonly wake: () => void
}

/** Milliseconds after which a sleeper renews its sleep (`Sleeper.sleep`). */
const renewMilliseconds = 25_000
/**
 * Milliseconds between the due time by the database's clock and the poll. A poll just before the due time would find
 * nothing.
 */
const afterDueMilliseconds = 5

interface Sleep {
  readonly since: number
  readonly renewedAt: number
  readonly dueAt: number
}

/**
 * Pauses of a process between two polls for due work. The pauses grow with the time since work was last found. There
 * are no timers, so `pause` has to be called before every pause.
 *
 *   awake --no claim for a while--> asleep, with growing pauses --work, a notification or an outage--> awake
 */
export class Idling {
  readonly #settings: PollSettings
  readonly #wake: () => void
  readonly #outage: Outage
  readonly #sleeper: Sleeper
  #stirredAt = performance.now()
  #asleep: Sleep | undefined
  /** Call of the sleeper that is in progress. Such calls are made one after the other. */
  #pendingCall: Promise<void> | undefined
  #isStopped = false

  constructor({ claimedBatches, settings, log, wake }: IdlingOptions) {
    this.#settings = settings
    this.#wake = wake
    this.#outage = outageOf('sleep', log)
    this.#sleeper = claimedBatches.sleeper(() => {
      this.stir()
      wake()
    })
  }

  /** Makes the pauses short again, because work was claimed or may have become due. */
  stir(): void {
    this.#stirredAt = performance.now()
    if (this.#asleep === undefined) return
    this.#asleep = undefined
    if (this.#pendingCall === undefined && !this.#isStopped) this.#callSleeper(() => this.#sleeper.awake())
    this.#wake()
  }

  /** Returns the pause before the next poll, in milliseconds. */
  pause(): number {
    const now = performance.now()
    if (this.#pendingCall === undefined && !this.#isStopped && this.#mayFallAsleep(now))
      this.#callSleeper(() => this.#fallAsleep())
    return pollPause(this.#settings, this.#asleep && now - this.#asleep.since)
  }

  /** Returns true if the process has slept so long that its pauses no longer grow. */
  isSoundAsleep(): boolean {
    return this.pause() >= this.#settings.pauseMillisecondsMax
  }

  /**
   * Returns `leastMilliseconds` or the pause before the next poll, whichever is longer. The pause ends earlier if the
   * next scheduled message becomes due during it.
   */
  pauseUntilDue(leastMilliseconds: number): number {
    const longest = Math.max(leastMilliseconds, this.pause())
    const due = this.#asleep === undefined ? 0 : this.#asleep.dueAt - performance.now()
    return due > 0 ? Math.min(longest, due + afterDueMilliseconds) : longest
  }

  /** Stops waiting. Resolves within a bounded time, even if the database does not answer. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#pendingCall
    await this.#sleeper.close()
  }

  #callSleeper(work: () => Promise<void>): void {
    this.#pendingCall = work()
      .then(() => this.#outage.worked())
      .catch((problem: unknown) => {
        this.stir()
        if (!this.#isStopped) this.#outage.failed(problem)
      })
      .finally(() => (this.#pendingCall = undefined))
  }

  /** True if the sleep has to start or be renewed, or the next due time is unknown. */
  #mayFallAsleep(now: number): boolean {
    const { quietMilliseconds, pauseMillisecondsMax } = this.#settings
    if (this.#asleep === undefined) return now - this.#stirredAt >= quietMilliseconds
    return now - this.#asleep.renewedAt >= renewMilliseconds || now > this.#asleep.dueAt + pauseMillisecondsMax
  }

  async #fallAsleep(): Promise<void> {
    const [calledAt, stirredBefore] = [performance.now(), this.#stirredAt]
    const answer = await this.#sleeper.sleep()
    if (this.#isStopped) return
    if (answer === 'deaf') this.stir()
    else if (this.#stirredAt === stirredBefore) this.#asleep = sleepOf(answer, calledAt, this.#asleep?.since)
    else await this.#sleeper.awake()
  }
}

const sleepOf = ({ nextDueMilliseconds = Infinity }: Asleep, calledAt: number, since?: number): Sleep => {
  const now = performance.now()
  return { since: since ?? now, renewedAt: now, dueAt: calledAt + nextDueMilliseconds }
}

/** Polling intervals of a process, in milliseconds. */
export interface PollSettings {
  /** Pause between two polls while awake. */
  readonly pauseMilliseconds: number
  /** Longest pause of a sleeper, after which missed work is found. */
  readonly pauseMillisecondsMax: number
  /** Time without a claim before the process goes to sleep. */
  readonly quietMilliseconds: number
}

export const pollDefaults: PollSettings = { pauseMilliseconds: 20, pauseMillisecondsMax: 3000, quietMilliseconds: 1000 }

/**
 * Returns the pause before the next poll of a process that has slept for `asleepMilliseconds` (undefined: awake). A
 * pause is never longer than the sleep so far. A call that was in progress when the sleep began may add work, and that
 * work is found after at most twice the duration of the call.
 */
export const pollPause = (
  { pauseMilliseconds, pauseMillisecondsMax }: PollSettings,
  asleepMilliseconds: number | undefined,
): number =>
  asleepMilliseconds === undefined
    ? pauseMilliseconds
    : Math.max(pauseMilliseconds, Math.min(asleepMilliseconds, pauseMillisecondsMax))
