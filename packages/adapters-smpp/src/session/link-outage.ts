/** Hears of every link that fails or is bound, and tells operators what they should know of it. */
export interface LinkOutage {
  /** A link has ended, or none came about; so many of all are bound. */
  failed(reason: string, bound: number, all: number): void
  bound(bound: number, all: number): void
}

interface Telling {
  readonly failed: (what: string) => void
  readonly works: (what: string) => void
}

/** Between two lines about links that stay away. */
const reminderMilliseconds = 60_000
/** So many lines of what is new come within that time: a link that is bound and lost all the time is no news. */
const newsMax = 3

/**
 * Tells when fewer links are bound than was told, or for another reason; when more are again; and meanwhile once a minute. `now` in
 * milliseconds.
 */
export function createLinkOutage({ failed, works }: Telling, now: () => number): LinkOutage {
  let since: number | undefined
  /** What was told of this outage. */
  let told: { readonly bound: number; readonly reasons: readonly string[] } | undefined
  /** Of the last minute. */
  let toldAt: readonly number[] = []
  let untold = 0

  return {
    failed(reason, bound, all) {
      const at = now()
      since ??= at
      toldAt = toldAt.filter((before) => at - before < reminderMilliseconds)
      const isNews = told === undefined || bound < told.bound || !told.reasons.includes(reason)
      if (toldAt.length >= (isNews ? newsMax : 1)) {
        untold++
        return
      }
      failed(untold === 0 ? reason : `${reason}; ${untold} failures before, ${linksOf(bound, all)} ${after(since, at)}`)
      told = { bound, reasons: [...(told?.reasons ?? []), reason] }
      toldAt = [...toldAt, at]
      untold = 0
    },
    bound(bound, all) {
      if (told !== undefined && since !== undefined && bound > told.bound) {
        works(`${linksOf(bound, all)} again ${after(since, now())}`)
        told = { ...told, bound }
        untold = 0
      }
      if (bound === all) since = told = undefined
    },
  }
}

const linksOf = (bound: number, all: number): string =>
  all === 1 ? `its link is ${bound === 1 ? '' : 'not '}bound` : `${bound} of ${all} links are bound`

const after = (since: number, at: number): string => `after ${Math.round((at - since) / 1000)} s`
