export interface HoldBackSettings<Item> {
  /**
   * Inspects the items of a call when they arrive. The returned function is called before each batch, and returns true
   * while they still have to wait.
   */
  readonly holdsBack: (items: readonly Item[]) => () => boolean
  /** Items of one key are stored in order of arrival. */
  readonly keyOf: (item: Item) => string
  /**
   * True if storing the item twice has the same effect as storing it once. Only such items are stored again after a
   * failure.
   */
  readonly isRepeatable: (item: Item) => boolean
  /** Maximum number of items of a batch, unless one call has more. */
  readonly batchMax: number
}

interface Entry<Item> {
  readonly items: readonly Item[]
  readonly isHeld: () => boolean
  resolve(returned: readonly Item[]): void
  reject(problem: unknown): void
}

/**
 * Stores items delivered by a carrier in batches; some have to wait. An item that waits lets items of other keys pass,
 * but never an item of its own key (P-7). It waits so that a receipt or reply that arrives before its message is
 * recorded finds the message at the first attempt.
 *
 *   added --run, nothing holds it back--> storing --stored--> resolved
 *                                            +--failed--> rejected; remembered if it is repeatable
 *   remembered --a later item of its key is stored--> stored before it
 */
export class HoldBackQueue<Item> {
  readonly #store: (items: readonly Item[]) => Promise<readonly Item[]>
  readonly #settings: HoldBackSettings<Item>
  readonly #failed: FailedItems<Item>
  #waiting: Entry<Item>[] = []
  #isBusy = false

  constructor(store: (items: readonly Item[]) => Promise<readonly Item[]>, settings: HoldBackSettings<Item>) {
    this.#store = store
    this.#settings = settings
    this.#failed = new FailedItems(settings.keyOf)
  }

  /**
   * Resolves to the items that the store returned, once all are stored; rejects if that failed. The carrier then offers
   * them again. Should a later item of the same key arrive first, the failed items are still stored before it.
   */
  add(items: readonly Item[]): Promise<readonly Item[]> {
    return new Promise((resolve, reject) => {
      const isHeld = this.#settings.holdsBack(items)
      this.#waiting.push({ items, isHeld, resolve, reject })
      if (!isHeld()) this.run()
    })
  }

  /** Continues with waiting items. To be called when outcomes of messages were recorded. */
  run(): void {
    if (!this.#isBusy) void this.#storeAll()
  }

  async #storeAll(): Promise<void> {
    this.#isBusy = true
    for (let ready = this.#takeReady(); ready.length > 0; ready = this.#takeReady()) await this.#storeBatch(ready)
    this.#isBusy = false
  }

  #takeReady(): readonly Entry<Item>[] {
    const { keyOf, batchMax } = this.#settings
    const ready: Entry<Item>[] = []
    const remaining: Entry<Item>[] = []
    const heldKeys = new Set<string>()
    let count = 0
    for (const entry of this.#waiting) {
      const isBehind = heldKeys.size > 0 && entry.items.some((item) => heldKeys.has(keyOf(item)))
      if (count < batchMax && !isBehind && !entry.isHeld()) {
        ready.push(entry)
        count += entry.items.length
        continue
      }
      remaining.push(entry)
      for (const item of entry.items) heldKeys.add(keyOf(item))
    }
    this.#waiting = remaining
    return ready
  }

  async #storeBatch(ready: readonly Entry<Item>[]): Promise<void> {
    const items = ready.flatMap((entry) => entry.items)
    const earlier = this.#failed.take(items)
    try {
      const returned = await this.#store([...earlier, ...items])
      for (const entry of ready)
        entry.resolve(returned.length === 0 ? returned : entry.items.filter((item) => returned.includes(item)))
    } catch (problem) {
      this.#failed.keep([...earlier, ...items.filter(this.#settings.isRepeatable)])
      for (const entry of ready) entry.reject(problem)
    }
  }
}

/** Maximum number of failed items to remember; the oldest are dropped first. */
const failedMax = 10_000

/**
 * Items that could not be stored. The carrier offers them again, but perhaps only after a later item of the same key.
 * They are therefore stored together with that later item, before it.
 */
class FailedItems<Item> {
  readonly #keyOf: (item: Item) => string
  #items: readonly Item[] = []

  constructor(keyOf: (item: Item) => string) {
    this.#keyOf = keyOf
  }

  /** Removes and returns the failed items that belong before these items. */
  take(next: readonly Item[]): readonly Item[] {
    if (this.#items.length === 0) return []
    const keys = new Set(next.map(this.#keyOf))
    const before = this.#items.filter((item) => keys.has(this.#keyOf(item)))
    if (before.length > 0) this.#items = this.#items.filter((item) => !keys.has(this.#keyOf(item)))
    return before
  }

  keep(more: readonly Item[]): void {
    this.#items = [...this.#items, ...more].slice(-failedMax)
  }
}
