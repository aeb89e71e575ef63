/**
 * Queue with items of several owners. Owners take turns by work: next is the owner whose items had the least total work
 * since the owner began to wait. Items of one owner keep their order.
 */
export interface FairQueue<Item> {
  readonly length: number
  /**
   * Appends an item. `work` is its relative cost in any unit, 1 by default. With equal work, owners alternate.
   */
  push(owner: string, item: Item, work?: number): void
  /** Returns the next item without removing it. */
  peek(): Item | undefined
  /**
   * Removes and returns the next item. Its owner's next turn comes once every other waiting owner has had as much work.
   */
  shift(): Item | undefined
  /** Removes an item. Returns false if it is not in the queue any more. */
  remove(owner: string, item: Item): boolean
  /**
   * Makes room for an item of `newcomer`: removes and returns the newest item of the owner with the most items. If
   * several owners have the most, chooses the one whose turn comes last. Returns undefined if no other owner has more
   * items than the newcomer would have.
   */
  displace(newcomer: string): Item | undefined
}

interface Waiting<Item> {
  readonly items: { readonly item: Item; readonly work: number }[]
  /** Work done for this owner since it began to wait. A new owner begins with the smallest value of the others. */
  had: number
}

export function fairQueue<Item>(): FairQueue<Item> {
  /** Owners by name. Among owners with equal work, the order of the keys is the order of their turns. */
  const waiting = new Map<string, Waiting<Item>>()
  let length = 0

  function removeIfEmpty(owner: string, { items }: Waiting<Item>): void {
    length--
    if (items.length === 0) waiting.delete(owner)
  }

  function next(): readonly [owner: string, item: Waiting<Item>] | undefined {
    let least: readonly [string, Waiting<Item>] | undefined
    for (const entry of waiting) if (least === undefined || entry[1].had < least[1].had) least = entry
    return least
  }

  return {
    get length() {
      return length
    },
    push(owner, item, work = 1) {
      length++
      const ofOwner = waiting.get(owner)
      if (ofOwner === undefined) waiting.set(owner, { items: [{ item, work }], had: next()?.[1].had ?? 0 })
      else ofOwner.items.push({ item, work })
    },
    peek: () => next()?.[1].items[0]?.item,
    shift() {
      const [owner, ofOwner] = next() ?? []
      if (owner === undefined || ofOwner === undefined) return undefined
      waiting.delete(owner)
      const first = ofOwner.items.shift()
      ofOwner.had += first?.work ?? 0
      if (ofOwner.items.length > 0) waiting.set(owner, ofOwner)
      length--
      return first?.item
    },
    remove(owner, item) {
      const ofOwner = waiting.get(owner)
      const at = ofOwner?.items.findIndex((each) => each.item === item) ?? -1
      if (ofOwner === undefined || at === -1) return false
      ofOwner.items.splice(at, 1)
      removeIfEmpty(owner, ofOwner)
      return true
    },
    displace(newcomer) {
      let most = (waiting.get(newcomer)?.items.length ?? 0) + 1
      let heaviest: readonly [string, Waiting<Item>] | undefined
      for (const entry of waiting) {
        const { length: count } = entry[1].items
        if (count < most || (count === most && heaviest === undefined)) continue
        most = count
        heaviest = entry
      }
      if (heaviest === undefined) return undefined
      const item = heaviest[1].items.pop()?.item
      removeIfEmpty(...heaviest)
      return item
    },
  }
}

/**
 * Scheduler for work that occupies the process. The work runs in small pieces that use a bounded part of each turn of
 * the event loop, and owners take turns.
 */
export interface TimeSlices {
  /**
   * Runs a piece of work: at once if this turn has time for it and no other piece waits, otherwise in turn. Throws or
   * rejects with the error of the piece.
   */
  run<T>(owner: string, piece: () => T): T | Promise<T>
  /** Does the same as `run` for callers that are not authenticated yet. Together they get only a part of the time. */
  runUnknown<T>(owner: string, piece: () => T): Promise<T>
}

export interface TimeSliceSettings {
  /** Milliseconds after which no further piece begins in one turn of the event loop; default 2. */
  readonly turnMs?: number
  /** Maximum share of the time for `runUnknown`; default a fourth. */
  readonly unknownShare?: number
}

export function timeSlices({ turnMs = 2, unknownShare = 0.25 }: TimeSliceSettings = {}): TimeSlices {
  const known = fairQueue<() => void>()
  const unknown = fairQueue<() => void>()
  let usedMs = 0
  let planned = false
  let unknownNotBefore = 0

  function timed<T>(piece: () => T): T {
    const started = performance.now()
    try {
      return piece()
    } finally {
      usedMs += performance.now() - started
    }
  }

  function plan(): void {
    if (planned) return
    planned = true
    setImmediate(turn)
  }

  function turn(): void {
    planned = false
    usedMs = 0
    for (let next = take(); next !== undefined; next = usedMs < turnMs ? take() : undefined) next()
    if (known.length > 0) plan()
    else if (unknown.length > 0) {
      const waitMs = unknownNotBefore - performance.now()
      if (waitMs <= 0) plan()
      else setTimeout(plan, waitMs)
    }
  }

  function take(): (() => void) | undefined {
    const next = known.shift()
    return next ?? (performance.now() >= unknownNotBefore ? unknown.shift() : undefined)
  }

  const queued = <T>(queue: typeof known, owner: string, piece: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      queue.push(owner, () => {
        try {
          resolve(timed(piece))
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      })
      plan()
    })

  return {
    run(owner, piece) {
      if (known.length > 0 || usedMs >= turnMs) return queued(known, owner, piece)
      plan()
      return timed(piece)
    },
    runUnknown: (owner, piece) =>
      queued(unknown, owner, () => {
        const started = performance.now()
        try {
          return piece()
        } finally {
          const ended = performance.now()
          unknownNotBefore = ended + (ended - started) * (1 / unknownShare - 1)
        }
      }),
  }
}

/**
 * Rate limit on refusals (P-13). A client that repeats a refused request at once is slowed down, because it has to wait
 * for the answer.
 */
export interface RefusalPace {
  /**
   * Resolves when the refusal may be answered: at once while there are few refusals, otherwise when it is the network's
   * turn. If too many refusals wait, the newest refusal of the network with the most waiting ones is answered at once,
   * so that memory stays bounded. The delay reveals nothing about the request.
   */
  turn(network: string): Promise<void> | undefined
  /** Answers all waiting refusals, and later ones at once, because the process ends. */
  end(): void
  readonly waiting: number
}

export interface RefusalPaceSettings {
  /** Maximum refusals a second; default 200. Without a limit, one process answered 12,000 refusals a second. */
  readonly perSecond?: number
  /** Maximum number of waiting refusals; default 2000. */
  readonly waitingMax?: number
}

export function refusalPace({ perSecond = 200, waitingMax = 2000 }: RefusalPaceSettings = {}): RefusalPace {
  const queue = fairQueue<() => void>()
  /**
   * Timer that was started when the last refusal was answered. All networks share one timer, because otherwise two
   * clients that alternate would have to wait for different times.
   */
  let timer: NodeJS.Timeout | undefined
  let isOver = false

  function begin(): void {
    timer = setTimeout(next, 1000 / perSecond)
  }

  function next(): void {
    timer = undefined
    const answer = queue.shift()
    if (answer === undefined) return
    begin()
    answer()
  }

  return {
    get waiting() {
      return queue.length
    },
    end() {
      isOver = true
      clearTimeout(timer)
      for (let answer = queue.shift(); answer !== undefined; answer = queue.shift()) answer()
    },
    turn(network) {
      if (isOver) return undefined
      if (timer === undefined) {
        begin()
        return undefined
      }
      if (queue.length >= waitingMax) {
        const displaced = queue.displace(network)
        if (displaced === undefined) return undefined
        displaced()
      }
      return new Promise((resolve) => queue.push(network, resolve))
    },
  }
}
