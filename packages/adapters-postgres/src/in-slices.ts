import { setImmediate } from 'node:timers/promises'

/** Longest time without yielding to the event loop. The interfaces use the same value (docs/decisions/0025). */
const sliceMilliseconds = 2

/** Returns the result of `make` for each item, in order. Yields to the event loop every two milliseconds. */
export async function inSlices<Item, Made>(
  items: Iterable<Item>,
  make: (item: Item) => Made,
): Promise<readonly Made[]> {
  const all: Made[] = []
  let begun = performance.now()
  for (const item of items) {
    if (performance.now() - begun >= sliceMilliseconds) {
      await setImmediate()
      begun = performance.now()
    }
    all.push(make(item))
  }
  return all
}
