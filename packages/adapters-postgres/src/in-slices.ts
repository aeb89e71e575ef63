import { setImmediate } from 'node:timers/promises'

/** As the slices of the interfaces (docs/decisions/0025). */
const sliceMilliseconds = 2

/**
 * What `make` gives for each, in their order. Others have their turn of the event loop after every two milliseconds.
 */
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
