/** How many parts may leave. It is told the time, in milliseconds of any clock that does not go back. */
export interface Pace {
  /** Takes up to `wanted` and returns how many there were. */
  take(wanted: number, now: number): number
  /** From when on there may be more. */
  nextAt(now: number): number
  /** The carrier took one. */
  accepted(now: number): void
  /** The carrier said that it gets too much. */
  throttled(now: number): void
  state(now: number): { readonly perSecond: number | undefined; readonly isThrottled: boolean }
  /** From now on so much of the rate that the operator set, perhaps nothing; the seconds before count. */
  limitTo(share: number): void
  /** How many were taken, and whether more was wanted than the share allows, since it was called last. */
  takeUse(): { readonly taken: number; readonly isShort: boolean }
  /** Nothing leaves for a moment, because the carrier said that it gets too much. */
  isPaused(now: number): boolean
}

/**
 * The first pause after a throttling error; it doubles with each further one before anything was taken, up to the
 * longest.
 */
const pauseMilliseconds = 500
const pauseMillisecondsMax = 8000
/** So much of what it took in the last second it gets then, and half of that where it has taken nothing since. */
const backOff = 0.8
/**
 * With each second without such an error so much faster, and less so near the rate at which the last one came; after
 * `calmSeconds` there is no limit of our own any more.
 */
const recovery = 1.25
const recoveryNear = 1.1
const calmSeconds = 60
const leastPerSecond = 1
/** Where it is not known yet what the carrier takes. */
const firstPerSecond = 10
/** A second of the operator's rate: so much longer a part may be under way than a later one. */
const secondMilliseconds = 1010

/**
 * A token bucket whose burst is a tenth of a second, with the rate that the operator set or none; of that rate no
 * second, wherever it begins and with some milliseconds more, gets more than one second's worth. A throttling error
 * stops it for a moment, and then it goes on with a little less than the carrier took in the last second, faster with
 * each second.
 */
export function createPace(whole: number | undefined): Pace {
  let perSecond = whole
  let used = 0
  let isShort = false
  let limit: number | undefined
  let throttledAt = -Infinity
  let pausedUntil = -Infinity
  let pause = pauseMilliseconds
  let raisedAt = 0
  /** The rate at which the last error came. */
  let tooFast = Infinity
  let hasTaken = false
  let room = Math.max(1, (whole ?? 0) / 10)
  let filledAt: number | undefined
  let windowAt = -Infinity
  let count = 0
  let before = 0
  /** When the last second's worth of parts left, the next one at `next`. */
  const left = new Array<number>(whole === undefined ? 0 : Math.ceil(whole)).fill(-Infinity)
  let next = 0

  const rate = (): number | undefined =>
    limit === undefined ? perSecond : Math.min(limit, perSecond ?? Number.POSITIVE_INFINITY)

  function recover(now: number): void {
    if (limit === undefined) return
    if (now - throttledAt >= calmSeconds * 1000) {
      limit = undefined
      pause = pauseMilliseconds
      return
    }
    for (; now - raisedAt >= 1000; raisedAt += 1000) limit *= limit < tooFast * backOff ? recovery : recoveryNear
  }

  function measure(now: number): void {
    if (now - windowAt < 1000) return
    before = now - windowAt < 2000 ? count : 0
    count = 0
    windowAt = now
  }

  function fill(now: number): number | undefined {
    recover(now)
    const current = rate()
    if (current === undefined) return undefined
    const most = current === 0 ? 0 : Math.max(1, current / 10)
    room = Math.min(most, room + ((now - (filledAt ?? now)) * current) / 1000)
    filledAt = now
    return current
  }

  /** A second after the last but so many, as may leave within a second. */
  function freeAt(): number {
    const most = Math.min(left.length, Math.ceil(perSecond ?? 0))
    return most === 0 ? Infinity : (left[(next - most + left.length) % left.length] ?? -Infinity) + secondMilliseconds
  }

  function leaves(now: number): void {
    left[next] = now
    next = (next + 1) % left.length
  }

  return {
    take(wanted, now) {
      if (now < pausedUntil) return 0
      if (fill(now) === undefined) return wanted
      const most = Math.min(wanted, Math.floor(room))
      let taken = 0
      for (; taken < most && (left.length === 0 || freeAt() <= now); taken++) if (left.length > 0) leaves(now)
      room -= taken
      used += taken
      if (taken < wanted && limit === undefined) isShort = true
      return taken
    },
    nextAt(now) {
      if (now < pausedUntil) return pausedUntil
      const current = fill(now)
      if (current === undefined) return now
      if (current === 0) return Infinity
      return Math.max(left.length === 0 ? now : freeAt(), room >= 1 ? now : now + ((1 - room) * 1000) / current)
    },
    accepted(now) {
      measure(now)
      count++
      hasTaken = true
    },
    throttled(now) {
      // The rest of a window that was under way when the first was throttled says nothing new.
      if (now < pausedUntil) return
      measure(now)
      const measured = Math.max(count, before)
      if (hasTaken && measured > 0) {
        pause = pauseMilliseconds
        tooFast = Math.max(leastPerSecond, measured)
        limit = Math.max(leastPerSecond, measured * backOff)
      } else {
        if (limit !== undefined) pause = Math.min(pause * 2, pauseMillisecondsMax)
        limit = Math.max(leastPerSecond, (limit ?? 2 * firstPerSecond) / 2)
      }
      hasTaken = false
      throttledAt = now
      pausedUntil = raisedAt = filledAt = now + pause
      room = 0
    },
    limitTo: (share) => void (perSecond = share),
    takeUse() {
      const use = { taken: used, isShort }
      used = 0
      isShort = false
      return use
    },
    isPaused: (now) => now < pausedUntil,
    state: (now) => {
      recover(now)
      return { perSecond: rate(), isThrottled: limit !== undefined }
    },
  }
}
