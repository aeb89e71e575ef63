import type { Writable } from 'node:stream'

/** Where text goes, until nobody reads it any more. */
export interface Writer {
  readonly isTerminal: boolean
  /** After a failure nothing is written. */
  write(text: string): void
  /** Why nothing can be written any more; undefined: it can. */
  failure(): NodeJS.ErrnoException | undefined
  /** Waits until everything is written, or cannot be. */
  flush(): Promise<void>
}

export function writerTo(stream: Writable & { readonly isTTY?: boolean }): Writer {
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
    write: (text) => {
      if (failure === undefined) write(text)
    },
    failure: () => failure,
    flush: () => new Promise((resolve) => (failure === undefined ? write('', resolve) : resolve())),
  }
}
