import type { Submission, SubmissionAnswer } from '@gateway/core/dispatch'
import type { Segment } from '../text/encode-body.ts'

/** What became of one part. `retry`: the carrier certainly has not got it, or refused it for now. */
export type PartOutcome = { readonly reference: string } | 'refused' | 'retry' | 'unknown'

/** What became of a message when none of its parts is under way. */
export type MessageOutcome =
  | { readonly accepted: readonly string[] }
  /** The carrier has some of the parts and will not get the others: the person can never read it. */
  | { readonly partly: readonly string[] }
  | 'refused'
  | 'refused-for-now'
  | 'unknown'

const isAccepted = (outcome: PartOutcome | undefined): outcome is { readonly reference: string } =>
  typeof outcome === 'object'

/**
 * A message is submitted again as a whole only if the carrier has certainly none of its parts (P-5), and it stays
 * charged if the carrier has one (ruling 1.4). Undefined: a part that was never tried or is to be tried again.
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

/** Whether parts that are missing are worth another try: the carrier may have others, and has refused none for good. */
export const isWorthCompleting = (parts: readonly (PartOutcome | undefined)[]): boolean =>
  !parts.includes('refused') && parts.some((part) => isAccepted(part) || part === 'unknown')

export type Answered = (answers: readonly SubmissionAnswer[]) => void

/** A message of which not all is decided. Times are milliseconds of one clock that does not go back. */
export interface Job {
  readonly message: Submission
  readonly answered: Answered
  readonly since: number
  segments: readonly Segment[]
  readonly outcomes: (PartOutcome | undefined)[]
  /** The parts that are still to be sent, the next one first. */
  toSend: number[]
  underWay: number
  tries: number
  /** No part is sent before. */
  notBefore: number
  /** Since when the carrier has, or may have, a part of it. */
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

/** What is left of the validity of its message; undefined: it has none of its own. */
export const secondsLeft = ({ message: { validSeconds }, since }: Job, now: number): number | undefined =>
  validSeconds === undefined ? undefined : validSeconds - (now - since) / 1000

/** The carrier certainly has nothing of it. */
export const isUntaken = ({ takenSince, underWay }: Job): boolean => takenSince === undefined && underWay === 0

/** All of these parts are to be sent. */
export function prepare(job: Job, segments: readonly Segment[]): void {
  job.segments = segments
  for (let at = 0; at < segments.length; at++) {
    job.toSend.push(at)
    job.outcomes.push(undefined)
  }
}

const isMissing = (outcome: PartOutcome | undefined): boolean => outcome === 'retry' || outcome === undefined

/** What the carrier certainly has not got is to be sent again. */
export function prepareMissing(job: Job): void {
  job.toSend = [...job.outcomes.keys()].filter((at) => isMissing(job.outcomes[at]))
}

export interface Patience {
  /** So long the missing parts are tried of what the carrier has others of. */
  readonly partsSeconds: number
  /** So long a message is tried that the carrier has nothing of. */
  readonly holdSeconds: number
}

/** Whether parts are missing and worth another try; `isShut`: only to complete what the carrier has a part of. */
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

/**
 * Messages of which something is to be sent: those that never began, in their order, and those of which parts go again.
 */
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
  /** All new ones, which leave; but the first `keep`. */
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
    takeNew(keep) {
      const all = queue.slice(head + keep)
      queue = queue.slice(head, head + keep)
      head = 0
      return all
    },
    size: () => queue.length - head + again.length,
  }
}
