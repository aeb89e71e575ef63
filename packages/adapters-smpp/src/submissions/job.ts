import type { Submission, SubmissionAnswer } from '@gateway/core'
import type { Segment } from '../text/encode-body.ts'
import { isWorthCompleting, type PartOutcome } from './message-outcome.ts'

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
