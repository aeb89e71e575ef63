/** How many requests may be unanswered, by how long answers take: so that what the carrier has is answered long before its time is over. */
export interface AdaptiveWindow {
  limit(): number
  /** A request was answered, or given up, after so long, at `now`; `wasFull`: as many were unanswered as may be. Milliseconds. */
  settled(elapsed: number, now: number, wasFull: boolean): void
}

export interface WindowSettings {
  readonly window: number
  readonly binds: number
  readonly responseSeconds: number
}

/** As many as a carrier that takes one a second over all connections answers in a third of the time. */
export const firstWindow = ({ window, binds, responseSeconds }: WindowSettings): number =>
  Math.min(window, Math.max(2, Math.floor(responseSeconds / 3 / binds)))

/**
 * Grows by one with each quick answer, and by one a window where answers take more than a sixteenth of the time; is halved, once a window,
 * when one takes more than a quarter.
 */
export function createAdaptiveWindow(settings: WindowSettings): AdaptiveWindow {
  const { window, responseSeconds } = settings
  const [quick, slow] = [responseSeconds * 62.5, responseSeconds * 250]
  let limit = firstWindow(settings)
  let halvedAt = -Infinity
  return {
    limit: () => Math.floor(limit),
    settled(elapsed, now, wasFull) {
      if (elapsed > slow) {
        // What had left before the last cut says nothing new.
        if (now - elapsed < halvedAt) return
        limit = Math.max(1, limit / 2)
        halvedAt = now
      } else if (wasFull) limit = Math.min(window, limit + (elapsed <= quick ? 1 : 1 / limit))
    },
  }
}
