export interface LoginFailureLimit {
  /** So many failures of one key are counted; at least 1. */
  readonly failuresMax: number
  /** Each counts for so long, by the store's clock. */
  readonly seconds: number
}

export interface CountedLoginFailure {
  /** False: so many were counted before that this one is one too many. It was not counted. */
  readonly isWithinLimit: boolean
  /** So long the next failure would be one too many; 0: it would not. */
  readonly waitSeconds: number
}

/** Failed log-ins of all processes of a deployment together (ruling 1.26). They may be forgotten when the store stops. */
export interface LoginFailures {
  /**
   * Counts a failed log-in of one user from one network. `key` stands for both: a digest, since strangers make up names.
   * Of those that are counted at the same time a few more than `failuresMax` may be within the limit.
   */
  count(key: string, limit: LoginFailureLimit): Promise<CountedLoginFailure>
}
