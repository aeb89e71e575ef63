interface Notices {
  readonly failed: (text: string) => void
  readonly works: (text: string) => void
}

/** Time between two notices about links that stay away. */
const reminderMilliseconds = 60_000
/**
 * Maximum number of notices about changes of an outage within that time. There is a maximum because a link that is
 * bound and lost repeatedly is not news each time.
 */
const newsMax = 3

/** Outage as operators know it: the number of bound links and the reasons that were reported. */
interface Reported {
  readonly bound: number
  readonly reasons: readonly string[]
}

/**
 * Receives every failure and bind of the links of a carrier and decides which of them operators are notified of.
 * Reports an outage when fewer links are bound than the last report said, or when the reason is a new one. Repeats the
 * report once a minute, and reports when more links are bound again. `now` returns milliseconds.
 */
export class LinkOutage {
  readonly #notices: Notices
  readonly #now: () => number
  /** Time of the first failure since all links were bound. */
  #since: number | undefined
  #reported: Reported | undefined
  /** Times of the failure notices of the last minute. */
  #noticeTimes: readonly number[] = []
  #silentFailures = 0

  constructor(notices: Notices, now: () => number) {
    this.#notices = notices
    this.#now = now
  }

  /** Records that a link ended or could not be bound. `bound` of `all` links are bound now. */
  failed(reason: string, bound: number, all: number): void {
    const at = this.#now()
    this.#since ??= at
    this.#noticeTimes = this.#noticeTimes.filter((before) => at - before < reminderMilliseconds)
    const reported = this.#reported
    const isNews = reported === undefined || bound < reported.bound || !reported.reasons.includes(reason)
    if (this.#noticeTimes.length >= (isNews ? newsMax : 1)) {
      this.#silentFailures++
      return
    }
    const summary = `; ${this.#silentFailures} failures before, ${linksOf(bound, all)} ${after(this.#since, at)}`
    this.#notices.failed(this.#silentFailures === 0 ? reason : `${reason}${summary}`)
    this.#reported = { bound, reasons: [...(reported?.reasons ?? []), reason] }
    this.#noticeTimes = [...this.#noticeTimes, at]
    this.#silentFailures = 0
  }

  /** Records how many links are bound now. */
  bound(bound: number, all: number): void {
    if (this.#reported !== undefined && this.#since !== undefined && bound > this.#reported.bound) {
      this.#notices.works(`${linksOf(bound, all)} again ${after(this.#since, this.#now())}`)
      this.#reported = { ...this.#reported, bound }
      this.#silentFailures = 0
    }
    if (bound === all) this.#since = this.#reported = undefined
  }
}

const linksOf = (bound: number, all: number): string =>
  all === 1 ? `its link is ${bound === 1 ? '' : 'not '}bound` : `${bound} of ${all} links are bound`

const after = (since: number, at: number): string => `after ${Math.round((at - since) / 1000)} s`
