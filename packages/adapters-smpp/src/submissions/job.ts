import type { Submission, SubmissionAnswer } from '@gateway/core/dispatch'
import type { Segment } from '../text/encode-body.ts'

/** Outcome of one part. `retry`: the carrier certainly did not get it, or refused it for now. */
export type PartOutcome = { readonly reference: string } | 'refused' | 'retry' | 'unknown'

/** Outcome of a message, once none of its parts is unanswered. */
export type MessageOutcome =
  | { readonly accepted: readonly string[] }
  /** The carrier has some of the parts and will not get the others, so nobody can read the message. */
  | { readonly partly: readonly string[] }
  | 'refused'
  | 'refused-for-now'
  | 'unknown'

const isAccepted = (outcome: PartOutcome | undefined): outcome is { readonly reference: string } =>
  typeof outcome === 'object'

/**
 * Returns the outcome of a message. The message is submitted again as a whole only if the carrier certainly has none of
 * its parts (P-5), and stays charged if the carrier has one (ruling 1.4). An undefined part was not sent, or is to be
 * sent again.
 */
export function messageOutcome(parts: readonly (PartOutcome | undefined)[]): MessageOutcome {
  const only = parts.length === 1 ? parts[0] : undefined
  if (isAccepted(only)) return { accepted: [only.reference] }
  const references = parts.filter(isAccepted).map(({ reference }) => reference)
  if (references.length === parts.length) return { accepted: references }
  if (parts.includes('unknown')) return 'unknown'
  if (references.length > 0) return { partly: references }
  return parts.includes('refused') ? 'refused' : 'refused-for-now'
}

/** Returns true if missing parts should be sent again: the carrier may have others, and has refused none for good. */
export const isWorthCompleting = (parts: readonly (PartOutcome | undefined)[]): boolean =>
  !parts.includes('refused') && parts.some((part) => isAccepted(part) || part === 'unknown')

export type Answered = (answers: readonly SubmissionAnswer[]) => void

/** Message with parts that are not decided. Times are milliseconds of one clock that does not go back. */
export interface Job {
  readonly message: Submission
  readonly answered: Answered
  readonly since: number
  segments: readonly Segment[]
  readonly outcomes: (PartOutcome | undefined)[]
  /** Positions of the parts that are still to be sent, the next one first. */
  toSend: number[]
  /** Number of parts that were sent and are not answered. */
  underWay: number
  tries: number
  /** Earliest time to send a part. */
  notBefore: number
  /** Time since which the carrier has, or may have, a part. */
  takenSince: number | undefined
}

export const createJob = (message: Submission, answered: Answered, since: number): Job => ({
  message,
  answered,
  since,
  segments: [],
  outcomes: [],
  toSend: [],
  underWay: 0,
  tries: 0,
  notBefore: 0,
  takenSince: undefined,
})

/** Returns the remaining validity of a message in seconds, or undefined if it has none of its own. */
export const secondsLeft = ({ message: { validSeconds }, since }: Job, now: number): number | undefined =>
  validSeconds === undefined ? undefined : validSeconds - (now - since) / 1000

/** Returns true if the carrier certainly has no part of the message. */
export const isUntaken = ({ takenSince, underWay }: Job): boolean => takenSince === undefined && underWay === 0

/** Schedules all parts. */
export function prepare(job: Job, segments: readonly Segment[]): void {
  job.segments = segments
  for (let at = 0; at < segments.length; at++) {
    job.toSend.push(at)
    job.outcomes.push(undefined)
  }
}

const isMissing = (outcome: PartOutcome | undefined): boolean => outcome === 'retry' || outcome === undefined

/** Schedules the parts again that the carrier certainly did not get. */
export function prepareMissing(job: Job): void {
  job.toSend = [...job.outcomes.keys()].filter((at) => isMissing(job.outcomes[at]))
}

export interface Patience {
  /** Seconds for which missing parts are sent again if the carrier has others. */
  readonly partsSeconds: number
  /** Seconds for which a message is sent again of which the carrier has no part. */
  readonly holdSeconds: number
}

/** Returns true if missing parts should be sent again. With `isShut`, only if the carrier may have other parts. */
export function isWorthAnotherTry(
  job: Job,
  { partsSeconds, holdSeconds }: Patience,
  isShut: boolean,
  now: number,
): boolean {
  const { outcomes, takenSince = now, since, tries } = job
  if (outcomes.includes('refused') || !outcomes.some(isMissing)) return false
  if (isWorthCompleting(outcomes)) return now - takenSince < partsSeconds * 1000
  return !isShut && tries === 0 && now - since < holdSeconds * 1000
}

/** Messages with parts to send: new messages in their order, and messages that are sent again. */
export interface WaitingJobs {
  add(job: Job): void
  addAgain(job: Job): void
  /** Takes the next message that may be sent now. Messages that are sent again precede new ones. */
  take(now: number): Job | undefined
  hasReady(now: number): boolean
  hasAgain(job: Job): boolean
  /** Returns the messages that are sent again. */
  again(): readonly Job[]
  removeAgain(job: Job): void
  /** Takes the first new message, if it has waited since `since` or longer. */
  takeOlder(since: number): Job | undefined
  /** Takes all new messages except the first `keep`. */
  takeNew(keep: number): readonly Job[]
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
    // Cut rarely, because each cut copies the array.
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
    takeNew(keep) {
      const all = queue.slice(head + keep)
      queue = queue.slice(head, head + keep)
      head = 0
      return all
    },
    size: () => queue.length - head + again.length,
  }
}
