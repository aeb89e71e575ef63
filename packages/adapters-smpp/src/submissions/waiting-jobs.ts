import type { Job } from './job.ts'

/** Messages of which something is to be sent: those that never began, in their order, and those of which parts go again. */
export interface WaitingJobs {
  add(job: Job): void
  addAgain(job: Job): void
  /** The next one that may be sent now: one that goes again before a new one. */
  take(now: number): Job | undefined
  hasReady(now: number): boolean
  hasAgain(job: Job): boolean
  /** Those that go again. */
  again(): readonly Job[]
  removeAgain(job: Job): void
  /** The first new one, if it waits since then or longer. */
  takeOlder(since: number): Job | undefined
  /** All new ones, which leave. */
  takeNew(): readonly Job[]
  size(): number
}

export function createWaitingJobs(): WaitingJobs {
  let queue: Job[] = []
  let head = 0
  let again: Job[] = []

  function takeFirst(): Job | undefined {
    const job = queue[head]
    if (job === undefined) return undefined
    head++
    // The array is cut now and then only: each cut copies it.
    if (head >= 1024 || head >= queue.length) {
      queue = queue.slice(head)
      head = 0
    }
    return job
  }

  const isReady =
    (now: number) =>
    ({ notBefore }: Job): boolean =>
      notBefore <= now

  return {
    add: (job) => void queue.push(job),
    addAgain: (job) => void again.push(job),
    take(now) {
      const at = again.length === 0 ? -1 : again.findIndex(isReady(now))
      return at >= 0 ? again.splice(at, 1)[0] : takeFirst()
    },
    hasReady: (now) => queue.length > head || again.some(isReady(now)),
    hasAgain: (job) => again.includes(job),
    again: () => again,
    removeAgain(job) {
      again = again.filter((other) => other !== job)
    },
    takeOlder(since) {
      const job = queue[head]
      return job === undefined || job.since > since ? undefined : takeFirst()
    },
    takeNew() {
      const all = queue.slice(head)
      queue = []
      head = 0
      return all
    },
    size: () => queue.length - head + again.length,
  }
}
