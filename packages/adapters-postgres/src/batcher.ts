import type { AccountId } from '@gateway/core/accounts'
import type { Msisdn } from '@gateway/core/messages'
import type { ArrayText } from './sql/arrays.ts'

/** Collects jobs while others run, and runs the collected jobs together. */
export interface Batcher<Job, Result> {
  /** Returns the result of this job. Rejects if this job failed, or if `run` failed for all its jobs. */
  add(job: Job): Promise<Result>
}

export interface BatcherOptions<Job, Result> {
  /** Maximum number of concurrent runs. */
  readonly inFlightMax: number
  /** Maximum number of jobs in a run. */
  readonly jobsMax: number
  /** Maximum weight of a run with more than one job. */
  readonly weightMax: number
  readonly weight: (job: Job) => number
  /**
   * Minimum time from the start of one run to the start of a concurrent one, in milliseconds. The next run starts
   * earlier if jobs with a total weight of `jobsMax` are waiting. This makes fewer runs with more small jobs in each.
   * Defaults to 0.
   */
  readonly gatherMs?: number
  /** Clock and timer for `gatherMs`. Defaults to those of the process. */
  readonly clock?: GatherClock
  /**
   * Runs jobs, which are given oldest first. Resolves when the next run may begin, with a result or a promise of a
   * result for each job in the same order. If it rejects, all of its jobs reject.
   */
  readonly run: (jobs: readonly Job[]) => Promise<readonly (Result | Promise<Result>)[]>
}

/** Clock and timer in milliseconds. */
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
 * Creates a batcher. If nothing runs, a job starts in the same turn of the event loop, together with all jobs added in
 * that turn. Jobs added during a run share the next one. An idle store therefore answers without delay, and a busy one
 * works in few large steps: with 32 callers, up to three times as many jobs a second as when each starts by itself.
 * Jobs start in the order in which they were added.
 */
export function batcher<Job, Result>(options: BatcherOptions<Job, Result>): Batcher<Job, Result> {
  const { inFlightMax, jobsMax, weightMax, weight, gatherMs = 0, clock = processClock, run } = options
  let queue: Waiting<Job, Result>[] = []
  let inFlight = 0
  /** Time at which the last run began. Set only if `gatherMs` is above 0. */
  let began = 0
  let isCalledLater = false

  const gatheringMs = (): number => began + gatherMs - clock.now()
  /** Returns true if another run may begin while one is in progress. */
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
    const jobs = queue.slice(0, count)
    queue = queue.slice(count)
    return jobs
  }

  async function runOnce(waiting: readonly Waiting<Job, Result>[]): Promise<void> {
    try {
      const results = await run(waiting.map(({ job }) => job))
      for (const [i, { resolve, reject }] of waiting.entries()) {
        const result = results[i]
        if (result === undefined) reject(new Error('a job got no result'))
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

  /** Starts collected jobs on time even if no job is added and no run ends, because a run may wait for a lock. */
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

/**
 * Looks up pairs of account and number, given as two arrays. Returns the answers by the position of the pair, from 1.
 */
type Ask<Answer> = (accounts: ArrayText, numbers: ArrayText) => Promise<ReadonlyMap<number, Answer>>

/**
 * Returns a lookup that batches concurrent questions: questions that are asked while a lookup runs share the next
 * lookup. Each question resolves to its answers by number, without the numbers that have no answer.
 */
export function askAboutNumbers<Answer>(
  ask: Ask<Answer>,
): (question: Question) => Promise<ReadonlyMap<Msisdn, Answer>> {
  const nothing: ReadonlyMap<Msisdn, Answer> = new Map()

  async function run(questions: readonly Question[]): Promise<readonly ReadonlyMap<Msisdn, Answer>[]> {
    // Joined as text, because flatMap took as long for each number as the rest of this function.
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
