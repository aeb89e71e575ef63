import { fairQueue } from './fair-queue.ts'

/** Work that occupies the process, in small pieces: of each turn of the event loop it takes a bounded part, and owners take turns. */
export interface TimeSlices {
  /** Runs a piece of work: at once where this turn has time for it and nobody waits, else in turn. Throws or rejects as it does. */
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
