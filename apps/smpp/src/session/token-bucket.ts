/** Rate limit that admits bursts of up to one second's worth. */
export class TokenBucket {
  readonly perSecond: number
  #tokens: number
  #refilledAt: number

  constructor(perSecond: number, now: number) {
    this.perSecond = perSecond
    this.#tokens = perSecond
    this.#refilledAt = now
  }

  /** Returns true if `take` would consume one token. */
  hasToken(now: number): boolean {
    this.#refill(now)
    return this.#tokens >= Math.min(1, this.perSecond)
  }

  /**
   * Consumes `count` tokens, or none if there are fewer. A count above the burst needs a full bucket and empties it.
   */
  take(count: number, now: number): boolean {
    this.#refill(now)
    if (this.#tokens < Math.min(count, this.perSecond)) return false
    this.#tokens -= count
    return true
  }

  #refill(now: number): void {
    this.#tokens = Math.min(this.perSecond, this.#tokens + ((now - this.#refilledAt) * this.perSecond) / 1000)
    this.#refilledAt = now
  }
}
