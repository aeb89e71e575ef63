/**
 * What waits on behalf of several owners. Owners take turns by work: who has had least since both wait is next. Of one
 * owner what came first is first.
 */
export interface FairQueue<Item> {
  readonly length: number
  /**
   * `work`: what it costs beside others, in any unit; 1 if not given. Of equal work, owners come one after the other.
   */
  push(owner: string, item: Item, work?: number): void
  /** The next in turn, which stays. */
  peek(): Item | undefined
  /** The next in turn; its owner's turn comes again when each other owner has had as much work. */
  shift(): Item | undefined
  /** Takes out one that waits; false if it waits no more. */
  remove(owner: string, item: Item): boolean
  /**
   * Makes room for one of `newcomer`: takes out the newest of the owner with most waiting, of several the one whose
   * turn comes last. Undefined: no other owner has more waiting than the newcomer would have.
   */
  displace(newcomer: string): Item | undefined
}

interface Waiting<Item> {
  readonly items: { readonly item: Item; readonly work: number }[]
  /** Work that it has had since it waits; who comes later begins with the least that another has. */
  had: number
}

export function fairQueue<Item>(): FairQueue<Item> {
  /** The order of the keys is that of the turns of those that have had the same. */
  const waiting = new Map<string, Waiting<Item>>()
  let length = 0

  function taken(owner: string, { items }: Waiting<Item>): void {
    length--
    if (items.length === 0) waiting.delete(owner)
  }

  function next(): readonly [owner: string, its: Waiting<Item>] | undefined {
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
      const its = waiting.get(owner)
      if (its === undefined) waiting.set(owner, { items: [{ item, work }], had: next()?.[1].had ?? 0 })
      else its.items.push({ item, work })
    },
    peek: () => next()?.[1].items[0]?.item,
    shift() {
      const [owner, its] = next() ?? []
      if (owner === undefined || its === undefined) return undefined
      waiting.delete(owner)
      const first = its.items.shift()
      its.had += first?.work ?? 0
      if (its.items.length > 0) waiting.set(owner, its)
      length--
      return first?.item
    },
    remove(owner, item) {
      const its = waiting.get(owner)
      const at = its?.items.findIndex((each) => each.item === item) ?? -1
      if (its === undefined || at === -1) return false
      its.items.splice(at, 1)
      taken(owner, its)
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
      taken(...heaviest)
      return item
    },
  }
}

/**
 * Work that occupies the process, in small pieces: of each turn of the event loop it takes a bounded part, and owners
 * take turns.
 */
export interface TimeSlices {
  /**
   * Runs a piece of work: at once where this turn has time for it and nobody waits, else in turn. Throws or rejects as
   * it does.
   */
  run<T>(owner: string, piece: () => T): T | Promise<T>
  /** The same for whoever has not proved to have an account: all of these together get a part of the time only. */
  runUnknown<T>(owner: string, piece: () => T): Promise<T>
}

export interface TimeSliceSettings {
  /** A turn begins no further piece after so long; default 2 milliseconds. */
  readonly turnMs?: number
  /** The part of the time that `runUnknown` gets at the most; default a fourth. */
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
 * Lets refusals go no faster than at a bounded rate: whoever comes again at once is slowed down by its own answers
 * (P-13).
 */
export interface RefusalPace {
  /**
   * Resolves when the refusal may be answered: at once while few are, else in turn. Networks take turns. Where too many
   * wait, the newest of the network with most is let go, so that memory stays bounded. It tells nothing by its time of
   * what was asked.
   */
  turn(network: string): Promise<void> | undefined
  /** The process ends: whoever waits is answered, and from now on everybody at once. */
  end(): void
  readonly waiting: number
}

export interface RefusalPaceSettings {
  /** Default 200; without a bound a process refused 12,000. */
  readonly perSecond?: number
  /** Default 2000. */
  readonly waitingMax?: number
}

export function refusalPace({ perSecond = 200, waitingMax = 2000 }: RefusalPaceSettings = {}): RefusalPace {
  const queue = fairQueue<() => void>()
  /**
   * Runs since a refusal was answered. One at a time, or else two that take turns at asking would wait differently
   * long.
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
