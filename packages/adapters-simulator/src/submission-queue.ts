import type { Pace } from '@gateway/carrier-kit'
import type { Submission, SubmissionAnswer } from '@gateway/core/dispatch'

/** Submission with the callback for its answer. */
export interface Waiting {
  readonly message: Submission
  readonly answered: (answers: readonly SubmissionAnswer[]) => void
}

export type Answer = 'refused' | 'refused-for-now' | 'unknown' | { readonly reference: string }

/** Time between two batches when the rate is limited. */
const batchMilliseconds = 10

/**
 * Batches the submissions of one turn of the event loop at the pace of the carrier, and counts those without an answer.
 *
 *   shut --open--> open: submissions are accepted in batches --shut--> shut: submissions wait
 */
export class SubmissionQueue {
  readonly #pace: Pace
  readonly #accept: (batch: readonly Waiting[]) => void
  #waiting: Waiting[] = []
  #unanswered = 0
  #isOpen = false
  #timer: NodeJS.Timeout | undefined
  #immediate: NodeJS.Immediate | undefined
  #quieted: (() => void)[] = []

  constructor(pace: Pace, accept: (batch: readonly Waiting[]) => void) {
    this.#pace = pace
    this.#accept = accept
  }

  /** Number of submissions without an answer. */
  get unanswered(): number {
    return this.#unanswered
  }

  add(more: readonly Waiting[]): void {
    this.#waiting = this.#waiting.length === 0 ? [...more] : this.#waiting.concat(more)
    this.#unanswered += more.length
    this.#plan()
  }

  /** Starts processing. */
  open(): void {
    this.#isOpen = true
    this.#plan()
  }

  /** Stops processing; returns the submissions that still wait. */
  shut(): readonly Waiting[] {
    this.#isOpen = false
    clearTimeout(this.#timer)
    clearImmediate(this.#immediate)
    const rest = this.#waiting
    this.#waiting = []
    return rest
  }

  /** Answers submissions. Calls each callback once, with all of its answers. */
  answer(submissions: readonly Waiting[], answerOf: (one: Waiting, at: number) => Answer): void {
    const answers = new Map<Waiting['answered'], SubmissionAnswer[]>()
    submissions.forEach((one, at) => {
      const { id } = one.message
      const answer = answerOf(one, at)
      const list = answers.get(one.answered) ?? []
      answers.set(one.answered, list)
      list.push(typeof answer === 'object' ? { id, outcome: 'accepted', ...answer } : { id, outcome: answer })
    })
    this.#unanswered -= submissions.length
    for (const [answered, list] of answers) answered(list)
    if (this.#unanswered > 0) return
    for (const resolve of this.#quieted) resolve()
    this.#quieted = []
  }

  /** Resolves when every submission has its answer. */
  quiet(): Promise<void> {
    return new Promise((resolve) => (this.#unanswered === 0 ? resolve() : void this.#quieted.push(resolve)))
  }

  #plan(): void {
    if (this.#isOpen && this.#waiting.length > 0 && this.#timer === undefined)
      this.#immediate ??= setImmediate(this.#work)
  }

  #work = (): void => {
    this.#immediate = this.#timer = undefined
    const count = this.#pace.take(this.#waiting.length, performance.now())
    const batch = this.#waiting.slice(0, count)
    this.#waiting = this.#waiting.slice(count)
    if (this.#waiting.length > 0) this.#timer = setTimeout(this.#work, batchMilliseconds)
    if (batch.length > 0) this.#accept(batch)
  }
}
