/** Counts the requests that a process works on, also those whose clients have gone: nothing else waits for these. */
export interface RunningRequests {
  begin(): void
  /** Of one that was begun. */
  end(): void
  /** Resolves once none is worked on, or after `seconds`. */
  ended(seconds: number): Promise<void>
}

export function runningRequests(): RunningRequests {
  let count = 0
  let last = (): void => undefined
  return {
    begin() {
      count++
    },
    end() {
      if (--count === 0) last()
    },
    async ended(seconds) {
      if (count === 0) return
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        last = resolve
        timer = setTimeout(resolve, seconds * 1000)
      })
      clearTimeout(timer)
    },
  }
}
