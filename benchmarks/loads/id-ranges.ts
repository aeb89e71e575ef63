/** Ids lo, lo + 1, … hi - 1 of each pair, one pair after the other: lo, hi, lo, hi, … */
export type IdRanges = number[]

/** Adds ids in the order in which they come; those that follow each other take the room of one. */
export function addIds(ranges: IdRanges, ids: readonly number[]): void {
  for (const id of ids) {
    if (ranges.at(-1) === id) ranges[ranges.length - 1] = id + 1
    else ranges.push(id, id + 1)
  }
}

export function countIds(ranges: IdRanges): number {
  let count = 0
  for (let at = 0; at < ranges.length; at += 2) count += (ranges[at + 1] ?? 0) - (ranges[at] ?? 0)
  return count
}

/** The smallest id. */
export function firstOf(ranges: IdRanges): number {
  let first = Infinity
  for (let at = 0; at < ranges.length; at += 2) first = Math.min(first, ranges[at] ?? Infinity)
  return first
}

/** All ids of the ranges. */
export function idsOf(ranges: IdRanges): number[] {
  const ids: number[] = []
  for (let at = 0; at < ranges.length; at += 2) {
    for (let id = ranges[at] ?? 0; id < (ranges[at + 1] ?? 0); id++) ids.push(id)
  }
  return ids
}
