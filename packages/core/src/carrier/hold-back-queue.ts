/** Stores what a carrier brings, some of which has to wait. */
export interface HoldBackQueue<Item> {
  /** Resolves once the items are stored, to those that the store returned; rejects if that failed, and then nobody tries them again. */
  add(items: readonly Item[]): Promise<readonly Item[]>
  /** Goes on with what waits. To be called when messages were recorded. */
  run(): void
}

/**
 * Stores items in batches, of `batchMax` items or one call of `add`, in their order but for those that have to wait: `holdsBack` looks at the
 * items of a call when they come and returns whether they still have to, which is asked before each batch. So a receipt or reply
 * that is faster than the record of its message finds it at the first look.
 */
export function createHoldBackQueue<Item>(
  store: (items: readonly Item[]) => Promise<readonly Item[]>,
  holdsBack: (items: readonly Item[]) => () => boolean,
  batchMax: number,
): HoldBackQueue<Item> {
  interface Entry {
    readonly items: readonly Item[]
    readonly isHeld: () => boolean
    resolve(returned: readonly Item[]): void
    reject(problem: unknown): void
  }
  let waiting: Entry[] = []
  let busy = false

  function takeReady(): readonly Entry[] {
    const ready: Entry[] = []
    const held: Entry[] = []
    let count = 0
    for (const entry of waiting) {
      if (count < batchMax && !entry.isHeld()) {
        ready.push(entry)
        count += entry.items.length
      } else held.push(entry)
    }
    waiting = held
    return ready
  }

  async function storeAll(): Promise<void> {
    busy = true
    for (let ready = takeReady(); ready.length > 0; ready = takeReady()) {
      try {
        const returned = await store(ready.flatMap(({ items }) => items))
        for (const entry of ready)
          entry.resolve(returned.length === 0 ? returned : entry.items.filter((item) => returned.includes(item)))
      } catch (problem) {
        for (const entry of ready) entry.reject(problem)
      }
    }
    busy = false
  }

  const run = (): void => {
    if (!busy) void storeAll()
  }

  return {
    add: (items) =>
      new Promise((resolve, reject) => {
        const isHeld = holdsBack(items)
        waiting.push({ items, isHeld, resolve, reject })
        if (!isHeld()) run()
      }),
    run,
  }
}
