/** A process that may sleep while no work is due. */
export interface Sleeper {
  /**
   * Puts the process to sleep. Once resolved to an object, every later call that makes work due or schedules work wakes
   * this sleeper; so does storing events for endpoints without a pushing process (manual opt-outs, tests, replays) and
   * resuming an endpoint. A call in progress at that moment may be missed, so keep polling with growing pauses
   * (`pollPause`). 'deaf': notifications cannot reach this process.
   *
   * Lasts for one minute; call again within 30 seconds.
   */
  sleep(): Promise<Asleep | 'deaf'>
  /** Ends the sleep; resolves once that is committed. Does nothing if the sleeper is awake. */
  awake(): Promise<void>
  /** Ends the sleep and all further notifications, in bounded time. */
  close(): Promise<void>
}

export interface Asleep {
  /** Milliseconds until the next scheduled message becomes due, at least 0; undefined if none is scheduled. */
  readonly nextDueMilliseconds: number | undefined
}
