import type { Asleep, ClaimedBatches } from '@gateway/core/dispatch'
import { outageOf, type Log } from '@gateway/server'

/** Pauses of a process between two polls for due work. The pauses grow with the time since work was last found. */
export interface Idling {
  /** Makes the pauses short again, because work was claimed or may have become due. */
  stir(): void
  /** Returns the pause before the next poll, in milliseconds. */
  pause(): number
  /** Returns true if the process has slept so long that its pauses no longer grow. */
  isSoundAsleep(): boolean
  /**
   * Returns `leastMilliseconds` or the pause before the next poll, whichever is longer. The pause ends earlier if the
   * next scheduled message becomes due during it.
   */
  pauseUntilDue(leastMilliseconds: number): number
  /** Stops waiting. Resolves within a bounded time, even if the database does not answer. */
  stop(): Promise<void>
}

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
 * Creates the pauses of a process that falls asleep after a while without a claim. There are no timers, so `pause` has
 * to be called before every pause.
 */
export function createIdling({ claimedBatches, settings, log, wake }: IdlingOptions): Idling {
  const outage = outageOf('sleep', log)
  const sleeper = claimedBatches.sleeper(() => {
    stir()
    wake()
  })
  let stirredAt = performance.now()
  let asleep: Sleep | undefined
  /** Call of the sleeper that is in progress. Such calls are made one after the other. */
  let pendingCall: Promise<void> | undefined
  let stopped = false

  function callSleeper(call: () => Promise<void>): void {
    pendingCall = call()
      .then(() => outage.worked())
      .catch((problem: unknown) => {
        stir()
        if (!stopped) outage.failed(problem)
      })
      .finally(() => (pendingCall = undefined))
  }

  async function fallAsleep(): Promise<void> {
    const [calledAt, stirredBefore] = [performance.now(), stirredAt]
    const answer = await sleeper.sleep()
    if (stopped) return
    if (answer === 'deaf') stir()
    else if (stirredAt === stirredBefore) asleep = sleepOf(answer, calledAt, asleep?.since)
    else await sleeper.awake()
  }

  function stir(): void {
    stirredAt = performance.now()
    if (asleep === undefined) return
    asleep = undefined
    if (pendingCall === undefined && !stopped) callSleeper(() => sleeper.awake())
    wake()
  }

  /** True if the sleep has to start or be renewed, or the next due time is unknown. */
  function mayFallAsleep(now: number): boolean {
    if (asleep === undefined) return now - stirredAt >= settings.quietMilliseconds
    return now - asleep.renewedAt >= renewMilliseconds || now > asleep.dueAt + settings.pauseMillisecondsMax
  }

  function pause(): number {
    const now = performance.now()
    if (pendingCall === undefined && !stopped && mayFallAsleep(now)) callSleeper(fallAsleep)
    return pollPause(settings, asleep === undefined ? undefined : now - asleep.since)
  }

  return {
    stir,
    pause,
    isSoundAsleep: () => pause() >= settings.pauseMillisecondsMax,
    pauseUntilDue: (least) => {
      const longest = Math.max(least, pause())
      const due = asleep === undefined ? 0 : asleep.dueAt - performance.now()
      return due > 0 ? Math.min(longest, due + afterDueMilliseconds) : longest
    },
    stop: async () => {
      stopped = true
      await pendingCall
      await sleeper.close()
    },
  }
}

const sleepOf = ({ nextDueMilliseconds = Infinity }: Asleep, askedAt: number, since?: number): Sleep => {
  const now = performance.now()
  return { since: since ?? now, renewedAt: now, dueAt: askedAt + nextDueMilliseconds }
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
