export interface NetworkQueueSettings {
  readonly atOnceMax: number
  /** While it returns true, only one job runs at a time. Default: never. */
  readonly isBusy?: () => boolean
  readonly waitingMax: number
  /**
   * Maximum time that a job may wait, in seconds, estimated from the duration of recent jobs. At least ten times
   * `atOnceMax` jobs may always wait. Default: no limit.
   */
  readonly waitSecondsMax?: number
  /** Returns the time in milliseconds. It never goes back. */
  readonly now?: () => number
  /**
   * Returns the burden that a network has caused recently, which is added to its number of waiting jobs. Default: 0.
   */
  readonly burdenOf?: (network: string) => number
}

interface Waiting {
  readonly start: () => void
  readonly refuse: (overloaded: Error) => void
}

/**
 * Runs a limited number of jobs at a time and queues the others. Networks take turns, so that a flood from one network
 * delays only itself: the first waiting job of a network starts after at most one job of each other network. If the
 * queue is full, the newest job of the network with the greatest burden is refused, which may be the newcomer.
 */
export class NetworkQueue {
  readonly #settings: Required<NetworkQueueSettings>
  /** Waiting jobs by network. The order of the keys is the order of the turns. */
  readonly #queues = new Map<string, Waiting[]>()
  #running = 0
  #waiting = 0
  /** Moving average of the duration of a job. */
  #usualMilliseconds = 0

  constructor(settings: NetworkQueueSettings) {
    const defaults = { isBusy: () => false, waitSecondsMax: Infinity, burdenOf: () => 0, now: () => performance.now() }
    this.#settings = { ...defaults, ...settings }
  }

  /** Number of waiting jobs. */
  get waiting(): number {
    return this.#waiting
  }

  /**
   * Runs `work` in its turn. If too many jobs wait, rejects without running it, with an error whose `code` is
   * 'overloaded'. This can happen at once, or later when a job of a network with a smaller burden needs the place.
   * Started work is never refused.
   */
  async run<T>(network: string, work: () => Promise<T>): Promise<T> {
    const { now } = this.#settings
    await this.#turn(network)
    const started = now()
    try {
      return await work()
    } finally {
      this.#learn(now() - started)
      this.#running--
      this.#startNext()
    }
  }

  #turn(network: string): Promise<void> | undefined {
    if (this.#waiting === 0 && this.#hasRoom()) {
      this.#running++
      return undefined
    }
    if (this.#isFull()) this.#makeRoom(network)
    const queue = this.#queues.get(network) ?? []
    this.#queues.set(network, queue)
    this.#waiting++
    const turned = new Promise<void>((start, refuse) => queue.push({ start, refuse }))
    // Start the next job, because a place may be free now.
    this.#startNext()
    return turned
  }

  #startNext(): void {
    while (this.#waiting > 0 && this.#hasRoom()) {
      this.#running++
      this.#takeNext()?.start()
    }
  }

  #takeNext(): Waiting | undefined {
    const [next] = this.#queues
    if (next === undefined) return undefined
    const [network, queue] = next
    this.#queues.delete(network)
    const first = queue.shift()
    if (queue.length > 0) this.#queues.set(network, queue) // behind all others, so that each has its turn
    this.#waiting--
    return first
  }

  /** Refuses the newest job of the network with the greatest burden. Throws if that network has no waiting job. */
  #makeRoom(newcomer: string): void {
    const own = (this.#queues.get(newcomer)?.length ?? 0) + 1 + this.#settings.burdenOf(newcomer)
    const { network, burden } = this.#heaviestNetwork()
    const victim = own > burden ? newcomer : network
    const queue = this.#queues.get(victim)
    const newest = queue?.pop()
    if (newest === undefined) throw overloaded
    if (queue?.length === 0) this.#queues.delete(victim)
    this.#waiting--
    newest.refuse(overloaded)
  }

  /** Returns the network with the greatest burden; of several, the one whose turn comes last. */
  #heaviestNetwork(): { readonly network: string; readonly burden: number } {
    let heaviest = { network: '', burden: 0 }
    for (const [network, { length }] of this.#queues) {
      const burden = length + this.#settings.burdenOf(network)
      if (burden >= heaviest.burden) heaviest = { network, burden }
    }
    return heaviest
  }

  #isFull(): boolean {
    const { atOnceMax, waitingMax, waitSecondsMax } = this.#settings
    const done = (this.#atOnce() * waitSecondsMax * 1000) / this.#usualMilliseconds
    return this.#waiting >= Math.min(waitingMax, Math.max(10 * atOnceMax, done))
  }

  #hasRoom(): boolean {
    return this.#running < this.#atOnce()
  }

  #atOnce(): number {
    const { isBusy, atOnceMax } = this.#settings
    return isBusy() ? 1 : atOnceMax
  }

  /**
   * Updates the moving average of job durations. Longer durations affect it fully only after several jobs, so a single
   * pause of the process has little effect.
   */
  #learn(milliseconds: number): void {
    const usual = this.#usualMilliseconds
    this.#usualMilliseconds = usual === 0 ? milliseconds : usual * 0.9 + milliseconds * 0.1
  }
}

/** Shared error, because creating an error for each refusal took a twelfth of the CPU time of a flood of log-ins. */
const overloaded = Object.assign(new Error('too many passwords are waiting to be checked'), { code: 'overloaded' })

/** Returns true if `run` rejected because too many jobs wait. */
export const isOverload = (problem: unknown): boolean =>
  problem instanceof Error && 'code' in problem && problem.code === 'overloaded'
