/**
 * Lets a process look for due work seldom while there is none, and still hear of it at once. Who makes work due tells
 * only those that sleep, so that it costs nothing under load.
 */
export interface Wakeups {
  /**
   * A process that may sleep. `wake` is called, also for nothing, once work that became due has been committed, and
   * whenever something may have been missed.
   */
  sleeper(wake: () => void): Sleeper
}

export interface Sleeper {
  /**
   * Once this has resolved to an object, every call that begins and makes work due, or schedules some, wakes this
   * sleeper; so does what stores events for endpoints where nobody pushes (opt-outs by hand, tests, replays), or
   * resumes one. A call under way at that moment may be missed: keep looking, with pauses that grow (`pollPause`).
   * 'deaf': nobody could wake it.
   *
   * Holds for a minute; to be called again within half of that.
   */
  sleep(): Promise<Asleep | 'deaf'>
  /** Need not be told any more; resolves when that is committed. Nothing happens if it does not sleep. */
  awake(): Promise<void>
  /** As awake; then it is told nothing more. Bounded. */
  close(): Promise<void>
}

export interface Asleep {
  /** From now to when the next waiting message becomes due, at least 0; undefined: nothing is scheduled. */
  readonly nextDueMilliseconds: number | undefined
}
