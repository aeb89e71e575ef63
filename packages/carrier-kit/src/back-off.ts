/**
 * Length of the first pause after a throttling error, in milliseconds. It doubles with each further error before a part
 * is accepted.
 */
const pauseMilliseconds = 500
const pauseMillisecondsMax = 8000
/** Share of the rate measured in the last second. Sending resumes at this share. */
const backOffShare = 0.8
/** Factor by which the limit grows each second. */
const recovery = 1.25
/** Factor by which the limit grows each second near the rate at which the last throttling error came. */
const recoveryNear = 1.1
/** Seconds without a throttling error after which there is no limit any more. */
const calmSeconds = 60
const leastPerSecond = 1
/** Maximum pause that a carrier can request with its throttling error, in milliseconds. */
const requestedPauseMillisecondsMax = 3_600_000
/** Limit after the first throttling error of a carrier that has accepted nothing, in parts a second. */
const firstPerSecond = 10

/**
 * Reaction to throttling errors of a carrier. Times are milliseconds of any clock that does not go back.
 *
 *   unlimited --throttled--> paused --pause is over--> limited (the limit grows each second)
 *       ^                      ^                          |  |
 *       |                      +--------throttled---------+  |
 *       +-------------------60 s without an error------------+
 *
 * The limit is four fifths of what the carrier accepted in the last second, or half of the previous limit if it has
 * accepted nothing since the last error.
 */
export class BackOff {
  #limit: number | undefined
  /** Time of the last throttling error, or the end of the pause that it requested. */
  #throttledUntil = -Infinity
  #pausedUntil = -Infinity
  #pause = pauseMilliseconds
  #raisedAt = 0
  /** Rate at which the last throttling error came. */
  #tooFast = Infinity
  #hasAccepted = false
  readonly #accepted = new RateMeter()

  /** Parts a second that may be sent; undefined: no limit. Current as of the last `recover`. */
  get limit(): number | undefined {
    return this.#limit
  }

  get pausedUntil(): number {
    return this.#pausedUntil
  }

  isPaused(now: number): boolean {
    return now < this.#pausedUntil
  }

  accepted(now: number): void {
    this.#accepted.count(now)
    this.#hasAccepted = true
  }

  /**
   * Begins a pause of at least `requestedMilliseconds` and sets the limit that applies after the pause. Returns false
   * if nothing changes: during a pause, an error proves nothing new, because its request was on its way when the first
   * request was throttled. Only an error that requests a longer pause extends a pause.
   */
  throttled(now: number, requestedMilliseconds = 0): boolean {
    const requestedUntil = now + Math.min(requestedMilliseconds, requestedPauseMillisecondsMax)
    if (this.isPaused(now)) return this.#extendPause(requestedUntil)
    const measured = this.#accepted.lastSecond(now)
    if (this.#hasAccepted && measured > 0) {
      this.#pause = pauseMilliseconds
      this.#tooFast = Math.max(leastPerSecond, measured)
      this.#limit = Math.max(leastPerSecond, measured * backOffShare)
    } else {
      if (this.#limit !== undefined) this.#pause = Math.min(this.#pause * 2, pauseMillisecondsMax)
      this.#limit = Math.max(leastPerSecond, (this.#limit ?? 2 * firstPerSecond) / 2)
    }
    this.#hasAccepted = false
    this.#throttledUntil = requestedUntil
    this.#pausedUntil = this.#raisedAt = Math.max(now + this.#pause, requestedUntil)
    return true
  }

  #extendPause(until: number): boolean {
    if (until <= this.#pausedUntil) return false
    this.#pausedUntil = this.#raisedAt = this.#throttledUntil = until
    return true
  }

  /** Raises or removes the limit according to the time since the last throttling error. */
  recover(now: number): void {
    if (this.#limit === undefined) return
    if (now - this.#throttledUntil >= calmSeconds * 1000) {
      this.#limit = undefined
      this.#pause = pauseMilliseconds
      return
    }
    for (; now - this.#raisedAt >= 1000; this.#raisedAt += 1000)
      this.#limit *= this.#limit < this.#tooFast * backOffShare ? recovery : recoveryNear
  }
}

/** Measures the rate of events by counting them in intervals of one second. */
class RateMeter {
  #windowAt = -Infinity
  #count = 0
  #before = 0

  count(now: number): void {
    this.#turn(now)
    this.#count++
  }

  /** Returns the number of events in the current interval or in the previous interval, whichever is larger. */
  lastSecond(now: number): number {
    this.#turn(now)
    return Math.max(this.#count, this.#before)
  }

  #turn(now: number): void {
    if (now - this.#windowAt < 1000) return
    this.#before = now - this.#windowAt < 2000 ? this.#count : 0
    this.#count = 0
    this.#windowAt = now
  }
}
