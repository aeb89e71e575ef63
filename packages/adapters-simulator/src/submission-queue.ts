import type { Pace } from '@gateway/carrier-kit'
import type { Submission, SubmissionAnswer } from '@gateway/core/dispatch'

/** Submission with the callback for its answer. */
export interface Waiting {
  readonly message: Submission
  readonly answered: (answers: readonly SubmissionAnswer[]) => void
}

export type Answer = 'refused' | 'refused-for-now' | 'unknown' | { readonly reference: string }

/** Batches the submissions of one turn of the event loop, and counts those without an answer. */
export interface SubmissionQueue {
  add(waiting: readonly Waiting[]): void
  /** Starts processing. */
  open(): void
  /** Answers submissions, in one call for each callback. */
  answer(submissions: readonly Waiting[], answerOf: (one: Waiting, at: number) => Answer): void
  /** Stops processing; returns the submissions that still wait. */
  shut(): readonly Waiting[]
  /** Returns the number of submissions without an answer. */
  unanswered(): number
  /** Resolves when every submission has its answer. */
  quiet(): Promise<void>
}

/** Time between two batches when the rate is limited. */
const batchMilliseconds = 10

export function submissionQueue(pace: Pace, accept: (batch: readonly Waiting[]) => void): SubmissionQueue {
  let waiting: Waiting[] = []
  let unanswered = 0
  let isOpen = false
  let timer: NodeJS.Timeout | undefined
  let immediate: NodeJS.Immediate | undefined
  let quieted: (() => void)[] = []

  function plan(): void {
    if (isOpen && waiting.length > 0 && timer === undefined) immediate ??= setImmediate(work)
  }

  function work(): void {
    immediate = timer = undefined
    const count = pace.take(waiting.length, performance.now())
    const batch = waiting.slice(0, count)
    waiting = waiting.slice(count)
    if (waiting.length > 0) timer = setTimeout(work, batchMilliseconds)
    if (batch.length > 0) accept(batch)
  }

  return {
    add(more) {
      waiting = waiting.length === 0 ? [...more] : waiting.concat(more)
      unanswered += more.length
      plan()
    },
    open() {
      isOpen = true
      plan()
    },
    answer(submissions, answerOf) {
      const answers = new Map<Waiting['answered'], SubmissionAnswer[]>()
      submissions.forEach((one, at) => {
        const { id } = one.message
        const answer = answerOf(one, at)
        const list = answers.get(one.answered) ?? []
        answers.set(one.answered, list)
        list.push(typeof answer === 'object' ? { id, outcome: 'accepted', ...answer } : { id, outcome: answer })
      })
      unanswered -= submissions.length
      for (const [answered, list] of answers) answered(list)
      if (unanswered > 0) return
      for (const resolve of quieted) resolve()
      quieted = []
    },
    shut() {
      isOpen = false
      clearTimeout(timer)
      clearImmediate(immediate)
      const rest = waiting
      waiting = []
      return rest
    },
    unanswered: () => unanswered,
    quiet: () => new Promise((resolve) => (unanswered === 0 ? resolve() : void quieted.push(resolve))),
  }
}
