import type { AccountId } from '@gateway/core/accounts'
import type { Msisdn } from '@gateway/core/messages'
import type { ArrayText } from './sql/arrays.ts'

/** Gathers jobs while others are being done, and does what has gathered together. */
export interface Batcher<Job, Result> {
  /** The result of this job; what fails one job does not fail another, unless `run` failed for all. */
  add(job: Job): Promise<Result>
}

export interface BatcherOptions<Job, Result> {
  /** So many runs at a time. */
  readonly inFlightMax: number
  /** A run has at most so many jobs. */
  readonly jobsMax: number
  /** A run has at most this weight, or one job. */
  readonly weightMax: number
  readonly weight: (job: Job) => number
  /**
   * Beside another run one begins only with a weight of `jobsMax`, or so long after that one began: fewer runs, of more
   * small jobs each. Default 0: at once.
   */
  readonly gatherMs?: number
  /** For `gatherMs`: milliseconds, and what calls back later. Default: those of the process. */
  readonly clock?: GatherClock
  /**
   * Does the jobs, the oldest first, and resolves when the next run may begin: to a result for each job in its place,
   * or to the promise of one. If it rejects, all of its jobs do.
   */
  readonly run: (jobs: readonly Job[]) => Promise<readonly (Result | Promise<Result>)[]>
}

/** Time in milliseconds, as a batcher that gathers sees it. */
export interface GatherClock {
  now(): number
  later(ms: number, call: () => void): void
}

const processClock: GatherClock = {
  now: () => performance.now(),
  later: (ms, call) => void setTimeout(call, ms),
}

interface Waiting<Job, Result> {
  readonly job: Job
  readonly resolve: (result: Result | Promise<Result>) => void
  readonly reject: (error: unknown) => void
}

/**
 * A job that comes while nothing runs starts in this turn of the event loop, with all that came in it, and those that
 * come meanwhile share the next run. So a quiet store answers as fast as it can, and a busy one in few large steps
 * (with 32 callers up to three times as many jobs a second as when each starts by itself). First come, first served.
 */
export function batcher<Job, Result>(options: BatcherOptions<Job, Result>): Batcher<Job, Result> {
  const { inFlightMax, jobsMax, weightMax, weight, gatherMs = 0, clock = processClock, run } = options
  let queue: Waiting<Job, Result>[] = []
  let inFlight = 0
  /** When the last run began; only where it counts. */
  let began = 0
  let isCalledLater = false

  const gatheringMs = (): number => began + gatherMs - clock.now()
  /** Beside another run. */
  const mayBegin = (): boolean =>
    gatherMs === 0 || gatheringMs() <= 0 || queue.reduce((sum, { job }) => sum + weight(job), 0) >= jobsMax

  function take(): readonly Waiting<Job, Result>[] {
    let count = 0
    let sum = 0
    for (const { job } of queue) {
      sum += weight(job)
      if (count === jobsMax || (count > 0 && sum > weightMax)) break
      count++
    }
    const taken = queue.slice(0, count)
    queue = queue.slice(count)
    return taken
  }

  async function runOnce(waiting: readonly Waiting<Job, Result>[]): Promise<void> {
    try {
      const results = await run(waiting.map(({ job }) => job))
      for (const [i, { resolve, reject }] of waiting.entries()) {
        const result = results[i]
        if (result === undefined) reject(new Error('a job came back without a result'))
        else resolve(result)
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
    inFlight--
    start()
  }

  function start(): void {
    while (inFlight < inFlightMax && queue.length > 0 && (inFlight === 0 || mayBegin())) {
      inFlight++
      if (gatherMs > 0) began = clock.now()
      void runOnce(take())
    }
    if (inFlight < inFlightMax && queue.length > 0) startLater()
  }

  /** What gathers waits no longer than it should, also if nothing more comes: the other run may wait for a lock. */
  function startLater(): void {
    if (isCalledLater) return
    isCalledLater = true
    clock.later(Math.max(1, gatheringMs()), () => {
      isCalledLater = false
      start()
    })
  }

  return {
    add: (job) =>
      new Promise<Result>((resolve, reject) => {
        const isFirst = queue.push({ job, resolve, reject }) === 1
        if (isFirst || (gatherMs > 0 && inFlight > 0 && inFlight < inFlightMax && mayBegin())) setImmediate(start)
      }),
  }
}

interface Question {
  readonly by: AccountId
  readonly numbers: readonly Msisdn[]
}

/** Pairs of account and number, as two arrays; returns answers by the place of their pair, from 1. */
type Ask<Answer> = (accounts: ArrayText, numbers: ArrayText) => Promise<ReadonlyMap<number, Answer>>

/**
 * Asks for many senders at once: questions that come while one is under way go together into the next. Returns what
 * there is of each question, by number.
 */
export function askAboutNumbers<Answer>(
  ask: Ask<Answer>,
): (question: Question) => Promise<ReadonlyMap<Msisdn, Answer>> {
  const nothing: ReadonlyMap<Msisdn, Answer> = new Map()

  async function run(questions: readonly Question[]): Promise<readonly ReadonlyMap<Msisdn, Answer>[]> {
    // One list after the other: flatMap took as long for a number as all the rest of this.
    const accounts = questions.map(({ by, numbers }) => `${by},`.repeat(numbers.length)).join('')
    const numbers = questions.map((question) => question.numbers.join()).join()
    const answers = await ask(`{${accounts.slice(0, -1)}}` as ArrayText, `{${numbers}}` as ArrayText)
    if (answers.size === 0) return questions.map(() => nothing)
    let place = 0
    return questions.map((question) => {
      const found = new Map<Msisdn, Answer>()
      for (const number of question.numbers) {
        const answer = answers.get(++place)
        if (answer !== undefined) found.set(number, answer)
      }
      return found
    })
  }
  const weight = ({ numbers }: Question) => numbers.length
  const line = batcher({ inFlightMax: 2, jobsMax: 256, weightMax: 4000, weight, run })
  return (question) => line.add(question)
}
