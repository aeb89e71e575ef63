/** How many may go now, `wanted` at the most; they count as gone. */
export type Pace = (wanted: number) => number

/** A tenth of a second's worth at once at the most. Undefined: no limit. */
export function pace(perSecond: number | undefined): Pace {
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
