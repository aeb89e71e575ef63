/** Bounds of an adaptive limit, and the duration below which an operation counts as fast. */
export interface AdaptiveLimitSettings {
  readonly min: number
  readonly max: number
  readonly fastMilliseconds: number
}

export const adaptiveLimitDefaults: AdaptiveLimitSettings = { min: 20, max: 2000, fastMilliseconds: 250 }

/** Milliseconds between two reductions, because operations that began before a reduction may still be late. */
const reductionMilliseconds = 1000

/**
 * Limit of concurrent operations that follows what the database can do. An operation that misses its deadline halves
 * the limit, because its work was in vain and has to be revoked; fast ones raise it slowly. Clients over the limit are
 * throttled at once instead of being refused after a second.
 */
export class AdaptiveLimit {
  readonly #settings: AdaptiveLimitSettings
  #limit: number
  #inProgress = 0
  #reducedAt = -Infinity

  constructor(settings: AdaptiveLimitSettings = adaptiveLimitDefaults) {
    this.#settings = settings
    this.#limit = settings.max
  }

  get hasRoom(): boolean {
    return this.#inProgress < this.#limit
  }

  begin(): void {
    this.#inProgress++
  }

  /** Ends an operation that was in time or late, after this many milliseconds, at this time. */
  end(isLate: boolean, milliseconds: number, now: number): void {
    const { min, max, fastMilliseconds } = this.#settings
    if (isLate && now - this.#reducedAt > reductionMilliseconds) {
      this.#reducedAt = now
      this.#limit = Math.max(min, Math.min(this.#limit, this.#inProgress) / 2)
    } else if (!isLate && milliseconds < fastMilliseconds) {
      this.#limit = Math.min(max, this.#limit + 4 / this.#limit)
    }
    this.#inProgress--
  }
}
