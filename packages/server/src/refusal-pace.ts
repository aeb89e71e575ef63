import { fairQueue } from './fair-queue.ts'

/** Lets refusals go no faster than at a bounded rate: whoever comes again at once is slowed down by its own answers (P-13). */
export interface RefusalPace {
  /**
   * Resolves when the refusal may be answered: at once while few are, else in turn. Networks take turns. Where too many wait, the newest
   * of the network with most is let go, so that memory stays bounded. It tells nothing by its time of what was asked.
   */
  turn(network: string): Promise<void> | undefined
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
  /** Runs since a refusal was answered. One at a time, or else two that take turns at asking would wait differently long. */
  let timer: NodeJS.Timeout | undefined

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
    turn(network) {
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
