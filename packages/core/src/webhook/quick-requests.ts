import type { Instant } from '../time/instant.ts'

/** Requests that began in one second. */
export interface BegunRequests {
  readonly second: number
  count: number
}

/** Counts requests that began a moment ago, this second or the one before: what takes longer is slow, and takes no place of others. */
export interface QuickRequests {
  begun(now: Instant): BegunRequests
  ended(among: BegunRequests): void
  count(now: Instant): number
}

export function createQuickRequests(): QuickRequests {
  let last: BegunRequests = { second: -1, count: 0 }
  let before: BegunRequests = { second: -2, count: 0 }

  function at(now: Instant): BegunRequests {
    const second = Math.floor(now / 1000)
    if (second === last.second) return last
    before = second === last.second + 1 ? last : { second: second - 1, count: 0 }
    return (last = { second, count: 0 })
  }
  return {
    begun: (now) => {
      const among = at(now)
      among.count++
      return among
    },
    ended: (among) => {
      among.count--
    },
    count: (now) => at(now).count + before.count,
  }
}
