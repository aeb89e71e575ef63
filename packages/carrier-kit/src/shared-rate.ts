import { randomUUID } from 'node:crypto'
import type { CarrierId } from '@gateway/core/dispatch'
import type { CarrierRates } from './carrier-rates.ts'
import type { Pace } from './pace.ts'

export interface SharedRateSettings {
  readonly carrier: CarrierId
  readonly rates: CarrierRates
  /** Rate of all processes together. */
  readonly perSecond: number
  readonly leaseSeconds: number
  readonly pace: Pick<Pace, 'limitTo' | 'takeUse'>
  /** Called when the share has changed. */
  readonly changed: () => void
  /** Called once when the store does not answer. */
  readonly notify: (text: string) => void
  /** Returns the time of a monotonic clock, in milliseconds. */
  readonly now?: () => number
}

/** Maximum lease of a share, in seconds: the share of a killed process is free after this time. */
const leaseSecondsMax = 4
/** Part of the lease time after which a share is renewed if nothing else calls for it. */
const renewAt = 1 / 3
/**
 * Minimum time between two renewals. A share that is given up at one renewal has therefore been unused for a second
 * when the next renewal comes.
 */
const pauseMilliseconds = 1000
/** Time between two calls of `look`. */
const lookMilliseconds = 250

/**
 * Share of this process in the rate of a carrier that several processes use.
 *
 *   no share --look, the store answers--> leased --look, renewal is due--> leased with another share
 *                                           +--the store does not answer--> the share stays as it is
 *   any state --stop--> the share is returned
 *
 * The share is 0 until the store answers for the first time. A part that this process must give up is unused from then
 * on, and reported as free a second later.
 */
export class SharedRate {
  readonly #settings: SharedRateSettings
  readonly #now: () => number
  readonly #holder = randomUUID()
  /** Seconds of a lease. */
  readonly #seconds: number
  #looking: NodeJS.Timeout | undefined
  #share = 0
  #renewedAt = -Infinity
  /** Earliest time at which the lease ends. */
  #leasedUntil = Infinity
  /**
   * Use since the last renewal: parts sent, calls of `look`, and the number of calls before which the share was too
   * small.
   */
  #use: { readonly since: number; readonly sent: number; readonly looks: number; readonly short: number }
  #isGivingUp = false
  #isAway = false
  #isStopped = false
  #renewal: Promise<void> | undefined

  constructor(settings: SharedRateSettings) {
    this.#settings = settings
    this.#now = settings.now ?? (() => performance.now())
    this.#seconds = Math.min(settings.leaseSeconds, leaseSecondsMax)
    this.#use = { since: this.#now(), sent: 0, looks: 0, short: 0 }
    settings.pace.limitTo(0)
  }

  /** Renews the lease whenever it is due, until `stop`. */
  start(): void {
    this.#looking = setInterval(() => void this.look(), lookMilliseconds)
    void this.look()
  }

  /** Renews the lease of the share if it is due. To be called several times a second. Never rejects. */
  look(): Promise<void> {
    this.#note()
    if (this.#isStopped || this.#renewal !== undefined || !this.#isDue()) return this.#renewal ?? Promise.resolve()
    this.#renewal = this.#renew()
      .catch((problem: unknown) => {
        const text = `its rate cannot be shared, and stays ${this.#share} a second: ${(problem as Error).message}`
        if (!this.#isAway) this.#settings.notify(text)
        this.#isAway = true
      })
      .then(() => (this.#renewal = undefined))
    return this.#renewal
  }

  /** Gives the share back. Nothing may be sent afterwards. */
  async stop(): Promise<void> {
    clearInterval(this.#looking)
    this.#isStopped = true
    await this.#renewal
    const { rates, carrier, perSecond } = this.#settings
    // The share stays in use for one more second, because parts sent within the last second count for a second. If the
    // store does not answer, the lease ends by itself.
    const request = { perSecond, inUse: this.#share, need: 0, seconds: pauseMilliseconds / 1000 }
    await rates.renew(carrier, this.#holder, request).catch(() => undefined)
  }

  #note(): void {
    const use = this.#settings.pace.takeUse()
    const { since, sent, looks, short } = this.#use
    this.#use = { since, sent: sent + use.parts, looks: looks + 1, short: short + (use.isShort ? 1 : 0) }
  }

  /** Returns true if the share was too small most of the time. A single burst does not count. */
  #isShort(): boolean {
    return 2 * this.#use.short > this.#use.looks
  }

  #isDue(): boolean {
    const since = this.#now() - this.#renewedAt
    if (since < pauseMilliseconds) return false
    return this.#share === 0 || this.#isGivingUp || this.#isShort() || since >= renewAt * this.#seconds * 1000
  }

  /** Returns the rate that this process needs: the rate that it used, or the whole rate if its share was too small. */
  #needed(): number {
    const { perSecond } = this.#settings
    const used = Math.ceil(this.#use.sent / Math.max(1, (this.#now() - this.#use.since) / 1000))
    return this.#isShort() ? perSecond : Math.min(perSecond, used)
  }

  async #renew(): Promise<void> {
    const { rates, carrier, perSecond, pace, changed } = this.#settings
    const before = this.#share
    const need = this.#needed()
    const requestedAt = this.#now()
    this.#use = { since: requestedAt, sent: 0, looks: 0, short: 0 }
    this.#renewedAt = requestedAt
    this.#share = await rates.renew(carrier, this.#holder, {
      ...{ perSecond, inUse: before, need, seconds: this.#seconds },
      wasAway: requestedAt >= this.#leasedUntil,
    })
    this.#renewedAt = this.#now()
    this.#leasedUntil = requestedAt + this.#seconds * 1000
    this.#isGivingUp = this.#share < before
    this.#isAway = false
    if (this.#share === before) return
    pace.limitTo(this.#share)
    changed()
  }
}
