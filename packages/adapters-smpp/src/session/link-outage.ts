/** Receives every failure and bind of the links of a carrier and decides which of them operators are notified of. */
export interface LinkOutage {
  /** Records that a link ended or could not be bound. `bound` of `all` links are bound now. */
  failed(reason: string, bound: number, all: number): void
  /** Records how many links are bound now. */
  bound(bound: number, all: number): void
}

interface Notices {
  readonly failed: (text: string) => void
  readonly works: (text: string) => void
}

/** Time between two notices about links that stay away. */
const reminderMilliseconds = 60_000
/** Maximum number of notices of news within that time, because a link that is bound and lost repeatedly is not news. */
const newsMax = 3

/** Outage as operators know it: the number of bound links and the reasons that were reported. */
interface Reported {
  readonly bound: number
  readonly reasons: readonly string[]
}

/**
 * Reports an outage when fewer links are bound than was reported, or for another reason; repeats it once a minute; and
 * reports when more links are bound again. `now` returns milliseconds.
 */
export function createLinkOutage({ failed, works }: Notices, now: () => number): LinkOutage {
  let since: number | undefined
  let reported: Reported | undefined
  /** Times of the failure notices of the last minute. */
  let noticeTimes: readonly number[] = []
  let silentFailures = 0

  return {
    failed(reason, bound, all) {
      const at = now()
      since ??= at
      noticeTimes = noticeTimes.filter((before) => at - before < reminderMilliseconds)
      const isNews = reported === undefined || bound < reported.bound || !reported.reasons.includes(reason)
      if (noticeTimes.length >= (isNews ? newsMax : 1)) {
        silentFailures++
        return
      }
      const summary = `; ${silentFailures} failures before, ${linksOf(bound, all)} ${after(since, at)}`
      failed(silentFailures === 0 ? reason : `${reason}${summary}`)
      reported = { bound, reasons: [...(reported?.reasons ?? []), reason] }
      noticeTimes = [...noticeTimes, at]
      silentFailures = 0
    },
    bound(bound, all) {
      if (reported !== undefined && since !== undefined && bound > reported.bound) {
        works(`${linksOf(bound, all)} again ${after(since, now())}`)
        reported = { ...reported, bound }
        silentFailures = 0
      }
      if (bound === all) since = reported = undefined
    },
  }
}

const linksOf = (bound: number, all: number): string =>
  all === 1 ? `its link is ${bound === 1 ? '' : 'not '}bound` : `${bound} of ${all} links are bound`

const after = (since: number, at: number): string => `after ${Math.round((at - since) / 1000)} s`
