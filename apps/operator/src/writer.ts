import type { Writable } from 'node:stream'

/** Where text goes, until nobody reads it any more. */
export interface Writer {
  readonly isTerminal: boolean
  /** How many characters a line of the terminal has; undefined: it is none, and lines may be as long as they are. */
  width(): number | undefined
  /** After a failure nothing is written. */
  write(text: string): void
  /** Why nothing can be written any more; undefined: it can. */
  failure(): NodeJS.ErrnoException | undefined
  /** Waits until everything is written, or cannot be. */
  flush(): Promise<void>
}

/** Of a terminal that does not tell how wide it is. */
const usualWidth = 80

export type Terminal = Writable & { readonly isTTY?: boolean; readonly columns?: number }

export function writerTo(stream: Terminal): Writer {
  let failure: NodeJS.ErrnoException | undefined
  const failed = (problem: Error): void => void (failure ??= problem)
  stream.on('error', failed)
  const write = (text: string, done?: () => void): void => {
    try {
      // What is written to a file fails here and now, a pipe tells it later.
      stream.write(text, done)
    } catch (problem) {
      failed(problem as Error)
      done?.()
    }
  }
  return {
    isTerminal: stream.isTTY === true,
    // A width of 0 is told by terminals that have none yet.
    width: () => (stream.isTTY === true ? (stream.columns ?? 0) || usualWidth : undefined),
    write: (text) => {
      if (failure === undefined) write(text)
    },
    failure: () => failure,
    flush: () => new Promise((resolve) => (failure === undefined ? write('', resolve) : resolve())),
  }
}
