/** Takes up to `wanted` tokens and returns how many were available. */
export type RateLimit = (wanted: number) => number

/** A token bucket whose burst is a tenth of a second. Undefined: no limit. */
export function rateLimit(perSecond: number | undefined): RateLimit {
  if (perSecond === undefined) return (wanted) => wanted
  const most = Math.max(1, perSecond / 10)
  let room = most
  let asked = performance.now()
  return (wanted) => {
    const now = performance.now()
    room = Math.min(most, room + ((now - asked) * perSecond) / 1000)
    asked = now
    const going = Math.min(wanted, Math.floor(room))
    room -= going
    return going
  }
}
