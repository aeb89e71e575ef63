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
 * The pause before the next look of a process that has slept for so long (undefined: it is awake). No pause is longer than the sleep
 * before it, so that a call that was under way when the sleep began is found after at most twice the time that it took.
 */
export const pollPause = (
  { pauseMilliseconds, pauseMillisecondsMax }: PollSettings,
  asleepMilliseconds: number | undefined,
): number =>
  asleepMilliseconds === undefined
    ? pauseMilliseconds
    : Math.max(pauseMilliseconds, Math.min(asleepMilliseconds, pauseMillisecondsMax))
