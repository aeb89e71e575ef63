/** A list that is always in order. Adding at the end, by far the most frequent case, takes constant time. */
export interface SortedList<T> {
  readonly size: number
  first(): T | undefined
  all(): readonly T[]
  takeFirst(): T | undefined
  add(item: T): void
  /** Removes and returns the picked items from the front, at most `itemsMax`. */
  takeAll(picked: (item: T) => boolean, itemsMax: number): T[]
}

export function sortedList<T>(compare: (a: T, b: T) => number): SortedList<T> {
  let items: T[] = []
  let removed = 0 // number of removed items at the front: removing one does not move all others
  const drop = () => {
    if (removed < 1024 || removed * 2 < items.length) return
    items = items.slice(removed)
    removed = 0
  }
  return {
    get size() {
      return items.length - removed
    },
    first: () => items[removed],
    all: () => items.slice(removed),
    takeFirst: () => {
      const item = items[removed]
      if (item !== undefined) removed++
      drop()
      return item
    },
    add: (item) => {
      items.splice(placeOf(item, items, removed, compare), 0, item)
    },
    takeAll: (picked, itemsMax) => {
      const out: T[] = []
      items = items.slice(removed).filter((item) => out.length >= itemsMax || !picked(item) || out.push(item) < 0)
      removed = 0
      return out
    },
  }
}

/** Returns the index behind all items that are not greater than `item`. The search starts at index `low`. */
function placeOf<T>(item: T, items: readonly T[], low: number, compare: (a: T, b: T) => number): number {
  const last = items.at(-1)
  if (last === undefined || compare(last, item) <= 0) return items.length
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(items[middle] as T, item) <= 0) low = middle + 1
    else high = middle
  }
  return low
}
