import { BackOff } from './back-off.ts'

/**
 * Length of a second of the operator's rate. It has a margin, because parts take different times to reach the carrier.
 */
const secondMilliseconds = 1010

/** Number of bursts that make up one second's worth of parts. */
const burstsPerSecond = 10

/**
 * Limits how many parts are sent. Times are milliseconds of any clock that does not go back. Three limits apply:
 *
 * - a token bucket of the current rate, whose burst is a tenth of a second: `#room` tokens, filled by `#fill`;
 * - the operator's rate: no second, wherever it begins, gets more than one second's worth (`#departures`);
 * - the back-off after throttling errors of the carrier, with its pause (`BackOff`).
 *
 * The current rate is the smaller one of the share of the operator's rate (`limitTo`) and the limit of the back-off.
 * Without an operator's rate and a back-off, nothing is limited.
 */
export class Pace {
  /** Share of the operator's rate for this process, in parts a second; undefined: the operator set no rate. */
  #perSecond: number | undefined
  readonly #departures: Departures | undefined
  readonly #backOff = new BackOff()
  #room: number
  #filledAt: number | undefined
  /** Parts taken, and whether more were requested than the share allows, since the last `takeUse`. */
  #use = { parts: 0, isShort: false }

  constructor(perSecond: number | undefined) {
    this.#perSecond = perSecond
    this.#departures = perSecond === undefined ? undefined : new Departures(perSecond)
    this.#room = Math.max(1, (perSecond ?? 0) / burstsPerSecond)
  }

  /** Takes up to `count` parts to send now and returns the number of parts taken. */
  take(count: number, now: number): number {
    if (this.#backOff.isPaused(now)) return 0
    if (this.#fill(now) === undefined) return count
    const most = Math.min(count, Math.floor(this.#room))
    let used = 0
    while (used < most && this.#freeAt() <= now) {
      this.#departures?.add(now)
      used++
    }
    this.#room -= used
    this.#use.parts += used
    if (used < count && this.#backOff.limit === undefined) this.#use.isShort = true
    return used
  }

  /** Returns the time from which another part may be taken. */
  nextAt(now: number): number {
    if (this.#backOff.isPaused(now)) return this.#backOff.pausedUntil
    const rate = this.#fill(now)
    if (rate === undefined) return now
    if (rate === 0) return Infinity
    const free = this.#departures === undefined ? now : this.#freeAt()
    return Math.max(free, this.#room >= 1 ? now : now + ((1 - this.#room) * 1000) / rate)
  }

  /** Records that the carrier accepted a part. */
  accepted(now: number): void {
    this.#backOff.accepted(now)
  }

  /**
   * Stops sending for a moment, at least for `requestedMilliseconds`, and slows down, because the carrier reported that
   * it gets too many messages. A request for more than an hour counts as an hour.
   */
  throttled(now: number, requestedMilliseconds = 0): void {
    if (!this.#backOff.throttled(now, requestedMilliseconds)) return
    this.#filledAt = this.#backOff.pausedUntil
    this.#room = 0
  }

  /** Returns true while nothing is sent after a throttling error. */
  isPaused(now: number): boolean {
    return this.#backOff.isPaused(now)
  }

  state(now: number): { readonly perSecond: number | undefined; readonly isThrottled: boolean } {
    this.#backOff.recover(now)
    return { perSecond: this.#rate(), isThrottled: this.#backOff.limit !== undefined }
  }

  /** Sets the share of the operator's rate, which may be 0. Parts that were sent in earlier seconds still count. */
  limitTo(share: number): void {
    this.#perSecond = share
  }

  /** Returns the parts taken since the last call, and whether more were requested than the share allows. */
  takeUse(): { readonly parts: number; readonly isShort: boolean } {
    const use = this.#use
    this.#use = { parts: 0, isShort: false }
    return use
  }

  #rate(): number | undefined {
    const { limit } = this.#backOff
    return limit === undefined ? this.#perSecond : Math.min(limit, this.#perSecond ?? Number.POSITIVE_INFINITY)
  }

  /** Adds the tokens of the time since the last call and returns the current rate. */
  #fill(now: number): number | undefined {
    this.#backOff.recover(now)
    const rate = this.#rate()
    if (rate === undefined) return undefined
    const most = rate === 0 ? 0 : Math.max(1, rate / burstsPerSecond)
    this.#room = Math.min(most, this.#room + ((now - (this.#filledAt ?? now)) * rate) / 1000)
    this.#filledAt = now
    return rate
  }

  #freeAt(): number {
    return this.#departures === undefined ? -Infinity : this.#departures.freeAt(this.#perSecond ?? 0)
  }
}

/** Times of the latest departures, one for each part that the operator's rate allows in a second. */
class Departures {
  readonly #times: number[]
  #next = 0

  constructor(perSecond: number) {
    this.#times = new Array<number>(Math.ceil(perSecond)).fill(-Infinity)
  }

  add(now: number): void {
    this.#times[this.#next] = now
    this.#next = (this.#next + 1) % this.#times.length
  }

  /** Returns the time from which another part may be sent if `perSecond` parts are allowed in a second. */
  freeAt(perSecond: number): number {
    const { length } = this.#times
    const most = Math.min(length, Math.ceil(perSecond))
    return most === 0
      ? Infinity
      : (this.#times[(this.#next - most + length) % length] ?? -Infinity) + secondMilliseconds
  }
}
