/**
 * Runs a bounded number of jobs at a time and queues the rest, fair by network: a flood from one network delays itself
 * only.
 */
export interface NetworkQueue {
  /** How many jobs wait. */
  readonly waiting: number
  /**
   * Runs `work` when its turn comes. Rejects with an error whose `code` is 'overloaded', and does nothing, if too much
   * waits: at once, or while it waits, when its place goes to a network that burdens the queue less. Work that started
   * is never refused.
   */
  run<T>(network: string, work: () => Promise<T>): Promise<T>
}

export interface NetworkQueueSettings {
  readonly atOnceMax: number
  /** While this is true one job runs at a time. Default: never. */
  readonly isBusy?: () => boolean
  readonly waitingMax: number
  /**
   * No more may wait than is done in so long, by what work took lately; but always ten times `atOnceMax`. Default: no
   * such bound.
   */
  readonly waitSecondsMax?: number
  /** In milliseconds; it never goes back. */
  readonly now?: () => number
  /** What a network has done lately that counts against it like work that waits. Default: nothing. */
  readonly burdenOf?: (network: string) => number
}

interface Waiting {
  readonly start: () => void
  readonly refuse: (overloaded: Error) => void
}

/**
 * A network's first waiting work starts after at most one of each other network. When the queue is full, the newest
 * work of the network with the greatest burden is refused, also if it is the newcomer.
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
  /** By network; the order of the keys is that of the turns. */
  const queues = new Map<string, Waiting[]>()
  let running = 0
  let waiting = 0
  let usualMilliseconds = 0

  function isFull(): boolean {
    const done = (atOnce() * waitSecondsMax * 1000) / usualMilliseconds
    return waiting >= Math.min(waitingMax, Math.max(10 * atOnceMax, done))
  }

  /** A moving average: what took longer counts after some of it, and one that stood still does not count much. */
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
    if (queue.length > 0) queues.set(network, queue) // behind all others
    waiting--
    return first
  }

  /** Of networks that burden the queue alike the one whose turn comes last. */
  function heaviestNetwork(): { readonly network: string; readonly burden: number } {
    let heaviest = { network: '', burden: 0 }
    for (const [network, { length }] of queues) {
      const burden = length + burdenOf(network)
      if (burden >= heaviest.burden) heaviest = { network, burden }
    }
    return heaviest
  }

  /** Refuses what came last from the network with the greatest burden; throws if nothing of it waits. */
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
    // There may be room again.
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

/** One for all: to make one for each refusal was a twelfth of what a flood of log-ins costs. */
const overloaded = Object.assign(new Error('too many passwords are waiting to be checked'), { code: 'overloaded' })

/** Whether `run` rejected so because too much waits. */
export const isOverload = (problem: unknown): boolean =>
  problem instanceof Error && 'code' in problem && problem.code === 'overloaded'
