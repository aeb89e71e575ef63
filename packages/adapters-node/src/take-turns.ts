/** So much work at a time; the rest waits, and networks take turns, so that a flood from one of them delays itself. */
export interface Turns {
  /**
   * Runs `work` when its turn comes. Rejects with an error whose `code` is 'overloaded', and does nothing, if too much waits
   * already: of this network, or of all together.
   */
  run<T>(network: string, work: () => Promise<T>): Promise<T>
}

export interface TurnSettings {
  readonly atOnceMax: number
  readonly waitingMax: number
  readonly waitingPerNetworkMax: number
}

export function takeTurns({ atOnceMax, waitingMax, waitingPerNetworkMax }: TurnSettings): Turns {
  /** By network; the order of the keys is that of the turns. */
  const queues = new Map<string, (() => void)[]>()
  let running = 0
  let waiting = 0

  function startNext(): void {
    const [next] = queues
    if (next === undefined) {
      running--
      return
    }
    const [network, queue] = next
    queues.delete(network)
    const start = queue.shift()
    if (queue.length > 0) queues.set(network, queue) // behind all others
    waiting--
    start?.()
  }

  function turn(network: string): Promise<void> | undefined {
    if (running < atOnceMax) {
      running++
      return undefined
    }
    const queue = queues.get(network) ?? []
    if (waiting >= waitingMax || queue.length >= waitingPerNetworkMax) throw overloaded()
    queues.set(network, queue)
    waiting++
    return new Promise((resolve) => queue.push(resolve))
  }

  return {
    async run(network, work) {
      await turn(network)
      try {
        return await work()
      } finally {
        startNext()
      }
    },
  }
}

const overloaded = (): Error =>
  Object.assign(new Error('too many passwords are waiting to be checked'), { code: 'overloaded' })

/** Whether `run` rejected so because too much waits. */
export const isOverload = (problem: unknown): boolean =>
  problem instanceof Error && 'code' in problem && problem.code === 'overloaded'
