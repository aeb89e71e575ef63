import type { Submission, SubmissionAnswer } from '@gateway/core/dispatch'

/** A submission and the callback for its answer. */
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
  answer(ones: readonly Waiting[], answerOf: (one: Waiting, at: number) => Answer): void
  /** Stops processing; returns the submissions that still wait. */
  shut(): readonly Waiting[]
  /** Resolves when every submission has its answer. */
  quiet(): Promise<void>
}

const pacedMilliseconds = 10

export function submissionQueue(mayGo: RateLimit, take: (batch: readonly Waiting[]) => void): SubmissionQueue {
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
    const count = mayGo(waiting.length)
    const batch = waiting.slice(0, count)
    waiting = waiting.slice(count)
    if (waiting.length > 0) timer = setTimeout(work, pacedMilliseconds)
    if (batch.length > 0) take(batch)
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
    answer(ones, answerOf) {
      const answers = new Map<Waiting['answered'], SubmissionAnswer[]>()
      ones.forEach((one, at) => {
        const { id } = one.message
        const answer = answerOf(one, at)
        const list = answers.get(one.answered) ?? []
        answers.set(one.answered, list)
        list.push(typeof answer === 'object' ? { id, outcome: 'accepted', ...answer } : { id, outcome: answer })
      })
      unanswered -= ones.length
      for (const [answered, list] of answers) answered(list)
      if (unanswered > 0) return
      for (const resolve of quieted) resolve()
      quieted = []
    },
    shut() {
      isOpen = false
      clearTimeout(timer)
      clearImmediate(immediate)
      const left = waiting
      waiting = []
      return left
    },
    quiet: () => new Promise((resolve) => (unanswered === 0 ? resolve() : void quieted.push(resolve))),
  }
}

/** Takes up to `wanted` tokens and returns how many were available. */
export type RateLimit = (wanted: number) => number

/** A token bucket whose burst is a tenth of a second. Undefined: no limit. */
export function rateLimit(perSecond: number | undefined): RateLimit {
  if (perSecond === undefined) return (wanted) => wanted
  const most = Math.max(1, perSecond / 10)
  let room = most
  let asked = performance.now()
  return (wanted) => {
    const now = performance.now()
    room = Math.min(most, room + ((now - asked) * perSecond) / 1000)
    asked = now
    const going = Math.min(wanted, Math.floor(room))
    room -= going
    return going
  }
}
