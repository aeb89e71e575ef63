/**
 * Runs a limited number of jobs at a time and queues the others. Networks take turns, so that a flood from one network
 * delays only itself.
 */
export interface NetworkQueue {
  /** Number of waiting jobs. */
  readonly waiting: number
  /**
   * Runs `work` in its turn. If too many jobs wait, rejects without running it, with an error whose `code` is
   * 'overloaded'. This can happen at once, or later when a job of a network with a smaller burden needs the place.
   * Started work is never refused.
   */
  run<T>(network: string, work: () => Promise<T>): Promise<T>
}

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
 * Creates a queue. The first waiting job of a network starts after at most one job of each other network. If the queue
 * is full, the newest job of the network with the greatest burden is refused, which may be the newcomer.
 */
export function networkQueue(settings: NetworkQueueSettings): NetworkQueue {
  const {
    atOnceMax,
    isBusy = () => false,
    waitingMax,
    waitSecondsMax = Infinity,
    burdenOf = () => 0,
    now = () => performance.now(),
  } = settings
  /** Waiting jobs by network. The order of the keys is the order of the turns. */
  const queues = new Map<string, Waiting[]>()
  let running = 0
  let waiting = 0
  let usualMilliseconds = 0

  function isFull(): boolean {
    const done = (atOnce() * waitSecondsMax * 1000) / usualMilliseconds
    return waiting >= Math.min(waitingMax, Math.max(10 * atOnceMax, done))
  }

  /**
   * Updates the moving average of job durations. Longer durations affect it fully only after several jobs, so a single
   * pause of the process has little effect.
   */
  function learn(milliseconds: number): void {
    usualMilliseconds = usualMilliseconds === 0 ? milliseconds : usualMilliseconds * 0.9 + milliseconds * 0.1
  }

  const atOnce = (): number => (isBusy() ? 1 : atOnceMax)
  const hasRoom = (): boolean => running < atOnce()

  function startNext(): void {
    while (waiting > 0 && hasRoom()) {
      running++
      takeNext()?.start()
    }
  }

  function takeNext(): Waiting | undefined {
    const [next] = queues
    if (next === undefined) return undefined
    const [network, queue] = next
    queues.delete(network)
    const first = queue.shift()
    if (queue.length > 0) queues.set(network, queue) // behind all others, so that each has its turn
    waiting--
    return first
  }

  /** Returns the network with the greatest burden; of several, the one whose turn comes last. */
  function heaviestNetwork(): { readonly network: string; readonly burden: number } {
    let heaviest = { network: '', burden: 0 }
    for (const [network, { length }] of queues) {
      const burden = length + burdenOf(network)
      if (burden >= heaviest.burden) heaviest = { network, burden }
    }
    return heaviest
  }

  /** Refuses the newest job of the network with the greatest burden. Throws if that network has no waiting job. */
  function makeRoom(newcomer: string): void {
    const own = (queues.get(newcomer)?.length ?? 0) + 1 + burdenOf(newcomer)
    const { network, burden } = heaviestNetwork()
    const victim = own > burden ? newcomer : network
    const queue = queues.get(victim)
    const newest = queue?.pop()
    if (newest === undefined) throw overloaded
    if (queue?.length === 0) queues.delete(victim)
    waiting--
    newest.refuse(overloaded)
  }

  function turn(network: string): Promise<void> | undefined {
    if (waiting === 0 && hasRoom()) {
      running++
      return undefined
    }
    if (isFull()) makeRoom(network)
    const queue = queues.get(network) ?? []
    queues.set(network, queue)
    waiting++
    const turned = new Promise<void>((start, refuse) => queue.push({ start, refuse }))
    // Start the next job, because a place may be free now.
    startNext()
    return turned
  }

  return {
    get waiting() {
      return waiting
    },
    async run(network, work) {
      await turn(network)
      const started = now()
      try {
        return await work()
      } finally {
        learn(now() - started)
        running--
        startNext()
      }
    },
  }
}

/** Shared error, because creating an error for each refusal took a twelfth of the CPU time of a flood of log-ins. */
const overloaded = Object.assign(new Error('too many passwords are waiting to be checked'), { code: 'overloaded' })

/** Returns true if `run` rejected because too many jobs wait. */
export const isOverload = (problem: unknown): boolean =>
  problem instanceof Error && 'code' in problem && problem.code === 'overloaded'
