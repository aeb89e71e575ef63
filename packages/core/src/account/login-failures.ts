/** Failed log-ins of one user from one network that a process has not told the others yet. */
export interface NewLoginFailures {
  /** Stands for user and network, the same in every process: a digest, since strangers make up names. */
  readonly key: string
  /** At least 1. */
  readonly failures: number
}

/** Failures that another process has told, and for how many seconds more they count. */
export interface OthersLoginFailures {
  readonly failures: number
  readonly seconds: number
}

/** Of each key the latest so many are returned. */
export const othersFailuresMax = 100
export const sharedSecondsMax = 3600

/** What the processes of a deployment tell each other about failed log-ins (ruling 1.26). It may be forgotten when the store stops. */
export interface LoginFailures {
  /**
   * Tells the others what failed at the process `by` (a UUID of its own): it counts for so many seconds from now, by the store's clock,
   * but at most for `sharedSecondsMax`. Returns what others have told of each key, in the order of the keys, the latest first.
   * Each call writes a row for each key: callers bound both. If it rejects, it may have been told.
   */
  exchange(
    by: string,
    failed: readonly NewLoginFailures[],
    seconds: number,
  ): Promise<readonly (readonly OthersLoginFailures[])[]>
}
