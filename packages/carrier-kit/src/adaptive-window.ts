export interface WindowSettings {
  /** Maximum number of outstanding requests. */
  readonly window: number
  /** Number of connections with a window of their own. */
  readonly binds: number
  /** Seconds after which an outstanding request is given up. */
  readonly responseSeconds: number
  /** Seconds after which an answer is slow; if undefined, a quarter of `responseSeconds`. */
  readonly slowSeconds?: number | undefined
}

/** Returns the seconds after which an answer counts as slow. */
export const slowSecondsOf = ({ responseSeconds, slowSeconds }: Omit<WindowSettings, 'window' | 'binds'>): number =>
  slowSeconds ?? responseSeconds / 4

/**
 * Returns the first size of the window: the number of requests that a carrier answers in a third of `responseSeconds`
 * if it answers one request a second over all connections.
 */
export const firstWindow = ({ window, binds, responseSeconds }: WindowSettings): number =>
  Math.min(window, Math.max(2, Math.floor(responseSeconds / 3 / binds)))

/** Time for which a carrier counts as slow after its window was halved. */
const slowMilliseconds = 60_000

/**
 * Maximum number of unanswered requests, adapted to the response times so that the carrier answers each request long
 * before its time limit.
 *
 * The window grows by one with each quick answer. With answers that take more than a sixteenth of the time limit, it
 * grows only by one per window. If such an answer also takes more than twice as long as the quickest answer, the
 * requests only wait in the carrier's queue, so the window shrinks until it has its first size. An answer that takes
 * more than `slowSeconds` halves the window, at most once per window.
 */
export class AdaptiveWindow {
  readonly #settings: WindowSettings
  readonly #slow: number
  readonly #quick: number
  readonly #first: number
  #limit: number
  #halvedAt = -Infinity
  #quickest = Infinity

  constructor(settings: WindowSettings) {
    this.#settings = settings
    this.#slow = slowSecondsOf(settings) * 1000
    this.#quick = Math.min(settings.responseSeconds * 62.5, this.#slow / 2)
    this.#first = this.#limit = firstWindow(settings)
  }

  limit(): number {
    return Math.floor(this.#limit)
  }

  /** Returns true if an answer recently took so long that the window was halved. */
  isSlow(now: number): boolean {
    return now - this.#halvedAt < slowMilliseconds
  }

  /**
   * Adapts the window to a request that was answered, or given up, after `elapsed` milliseconds. `unanswered` is the
   * number of requests without a response just before.
   */
  settled(elapsed: number, now: number, unanswered: number): void {
    this.#quickest = Math.min(this.#quickest, elapsed)
    if (elapsed > this.#slow) this.#halve(now - elapsed, now)
    else if (elapsed > this.#quick && elapsed > 2 * this.#quickest)
      this.#limit = Math.min(this.#limit, Math.max(this.#first, this.#limit - 0.5))
    // The window grows only if at least half of it was used, as in RFC 7661 (4.1). Half is enough, because bulk
    // messages fill at most three quarters of the window.
    else if (2 * unanswered >= this.#limit)
      this.#limit = Math.min(this.#settings.window, this.#limit + (elapsed <= this.#quick ? 1 : 1 / this.#limit))
  }

  /** Halves the window, unless the request was sent before the window was last halved. */
  #halve(sentAt: number, now: number): void {
    if (sentAt < this.#halvedAt) return
    this.#limit = Math.max(1, this.#limit / 2)
    this.#halvedAt = now
  }
}

/**
 * Window of a carrier without sessions, such as one over HTTP: adapts its size and counts the outstanding requests.
 * Times are milliseconds of one clock that does not go back.
 */
export class RequestWindow {
  readonly #size: AdaptiveWindow
  readonly #windowMax: number
  #inUse = 0

  constructor(settings: Omit<WindowSettings, 'binds'>) {
    this.#size = new AdaptiveWindow({ ...settings, binds: 1 })
    this.#windowMax = settings.window
  }

  /** Returns the number of requests that may be sent now. */
  room(): number {
    return Math.max(0, this.window() - this.#inUse)
  }

  /** Returns the number of requests that may be outstanding now. */
  window(): number {
    return Math.min(this.#size.limit(), this.#windowMax)
  }

  inUse(): number {
    return this.#inUse
  }

  isSlow(now: number): boolean {
    return this.#size.isSlow(now)
  }

  /**
   * Adds an outstanding request. Call the returned function when the request ends. With 'answered' or 'given-up' the
   * window adapts to the elapsed time; with 'unsent' it does not. Further calls have no effect.
   */
  begin(sentAt: number): (now: number, end: 'answered' | 'given-up' | 'unsent') => void {
    let hasEnded = false
    this.#inUse++
    return (now, end) => {
      if (hasEnded) return
      hasEnded = true
      if (end !== 'unsent') this.#size.settled(now - sentAt, now, this.#inUse)
      this.#inUse--
    }
  }
}
