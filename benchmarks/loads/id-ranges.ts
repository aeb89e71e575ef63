/** Ranges of ids as a flat list of pairs: lo, hi, lo, hi, … The end of a range is exclusive. */
export type IdRanges = number[]

/** Adds ids in order. Consecutive ids extend the last range. */
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

/** Returns the smallest id. */
export function firstOf(ranges: IdRanges): number {
  let first = Infinity
  for (let at = 0; at < ranges.length; at += 2) first = Math.min(first, ranges[at] ?? Infinity)
  return first
}

/** Returns all ids of the ranges. */
export function idsOf(ranges: IdRanges): number[] {
  const ids: number[] = []
  for (let at = 0; at < ranges.length; at += 2) {
    for (let id = ranges[at] ?? 0; id < (ranges[at + 1] ?? 0); id++) ids.push(id)
  }
  return ids
}
