import type { Asleep, Wakeups } from '@gateway/core/dispatch'
import { outageOf, type Log } from '@gateway/server'

/** How long the loops of a process pause between two looks for due work: the longer, the longer there was none. */
export interface Idling {
  /** Something was claimed, or may have become due: the pauses are short again. */
  stir(): void
  /** The pause before the next look. */
  pause(): number
  /** The same, at least as given, and over when the next scheduled message becomes due. */
  pauseUntilDue(leastMilliseconds: number): number
  /** Bounded. */
  stop(): Promise<void>
}

export interface IdlingOptions {
  readonly wakeups: Wakeups
  readonly settings: PollSettings
  readonly log: Log
  /** Ends the pauses: something may have become due, or they were those of a sleeper. */
  readonly wake: () => void
}

/** A sleeper says again that it sleeps (`Sleeper.sleep`). */
const renewMilliseconds = 25_000
/** The database's clock says when something is due: a look just before that would find nothing. */
const afterDueMilliseconds = 5

interface Sleep {
  readonly since: number
  readonly renewedAt: number
  readonly dueAt: number
}

/** Falls asleep when nothing was claimed for a while; there are no timers, `pause` is called before every pause. */
export function createIdling({ wakeups, settings, log, wake }: IdlingOptions): Idling {
  const outage = outageOf('sleep', log)
  const sleeper = wakeups.sleeper(() => {
    stir()
    wake()
  })
  let stirredAt = performance.now()
  let asleep: Sleep | undefined
  /** What the sleeper is told, one after the other. */
  let telling: Promise<void> | undefined
  let stopped = false

  function tell(what: () => Promise<void>): void {
    telling = what()
      .then(() => outage.worked())
      .catch((problem: unknown) => {
        stir()
        if (!stopped) outage.failed(problem)
      })
      .finally(() => (telling = undefined))
  }

  async function fallAsleep(): Promise<void> {
    const [askedAt, stirredBefore] = [performance.now(), stirredAt]
    const answer = await sleeper.sleep()
    if (stopped) return
    if (answer === 'deaf') stir()
    else if (stirredAt === stirredBefore) asleep = sleepOf(answer, askedAt, asleep?.since)
    else await sleeper.awake()
  }

  function stir(): void {
    stirredAt = performance.now()
    if (asleep === undefined) return
    asleep = undefined
    if (telling === undefined && !stopped) tell(() => sleeper.awake())
    wake()
  }

  /** To be told that it sleeps: it does not yet, has not said so for long, or does not know what is due next. */
  function mayFallAsleep(now: number): boolean {
    if (asleep === undefined) return now - stirredAt >= settings.quietMilliseconds
    return now - asleep.renewedAt >= renewMilliseconds || now > asleep.dueAt + settings.pauseMillisecondsMax
  }

  function pause(): number {
    const now = performance.now()
    if (telling === undefined && !stopped && mayFallAsleep(now)) tell(fallAsleep)
    return pollPause(settings, asleep === undefined ? undefined : now - asleep.since)
  }

  return {
    stir,
    pause,
    pauseUntilDue: (least) => {
      const longest = Math.max(least, pause())
      const due = asleep === undefined ? 0 : asleep.dueAt - performance.now()
      return due > 0 ? Math.min(longest, due + afterDueMilliseconds) : longest
    },
    stop: async () => {
      stopped = true
      await telling
      await sleeper.close()
    },
  }
}

const sleepOf = ({ nextDueMilliseconds = Infinity }: Asleep, askedAt: number, since?: number): Sleep => {
  const now = performance.now()
  return { since: since ?? now, renewedAt: now, dueAt: askedAt + nextDueMilliseconds }
}

/** How often a process looks for due work. All in milliseconds. */
export interface PollSettings {
  /** Between two looks while it is awake. */
  readonly pauseMilliseconds: number
  /** The longest pause of one that sleeps: who was missed waits no longer. */
  readonly pauseMillisecondsMax: number
  /** So long without a claim before it goes to sleep. */
  readonly quietMilliseconds: number
}

export const pollDefaults: PollSettings = { pauseMilliseconds: 20, pauseMillisecondsMax: 3000, quietMilliseconds: 1000 }

/**
 * The pause before the next look of a process that has slept for so long (undefined: it is awake). No pause is longer
 * than the sleep before it, so that a call that was under way when the sleep began is found after at most twice the
 * time that it took.
 */
export const pollPause = (
  { pauseMilliseconds, pauseMillisecondsMax }: PollSettings,
  asleepMilliseconds: number | undefined,
): number =>
  asleepMilliseconds === undefined
    ? pauseMilliseconds
    : Math.max(pauseMilliseconds, Math.min(asleepMilliseconds, pauseMillisecondsMax))
