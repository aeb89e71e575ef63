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

  /**
   * Consumes `count` tokens, or none if there are fewer. A count above the burst needs a full bucket and empties it.
   */
  take(count: number, now: number): boolean {
    this.#tokens = Math.min(this.perSecond, this.#tokens + ((now - this.#refilledAt) * this.perSecond) / 1000)
    this.#refilledAt = now
    if (this.#tokens < Math.min(count, this.perSecond)) return false
    this.#tokens -= count
    return true
  }
}
