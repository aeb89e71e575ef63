import type { AccountId } from '@gateway/core'
import { costOf, type Job } from './job.ts'
import type { LaidOut } from './lay-out.ts'

/** A first answer (ruling 1.24), but for the balance, which the statement knows that charges. */
export interface AnswerToKeep {
  readonly account: AccountId
  /** As of `Repeatable`. */
  readonly key: string
  readonly digest: string
  /** What later orders of its account cost, that are stored with it. */
  readonly later: number
  readonly text: string
}

/** The answers to jobs with a key of which somebody is accepted. */
export function answersToKeep(jobs: readonly Job[], laidOut: readonly LaidOut[]): readonly AnswerToKeep[] {
  if (jobs.every(({ repeatable }) => repeatable === undefined)) return []
  const answers: AnswerToKeep[] = []
  const costsLater = new Map<AccountId, number>()
  for (let i = laidOut.length - 1; i >= 0; i--) {
    const laid = laidOut[i]
    if (laid === undefined || laid.sends.length === 0) continue
    const { account, results } = laid
    const later = costsLater.get(account) ?? 0
    costsLater.set(account, later + costOf(laid))
    const repeatable = jobs[i]?.repeatable
    if (repeatable === undefined) continue
    const { key, digest, answer } = repeatable
    answers.push({ account, key, digest, later, text: answer(results) })
  }
  return answers
}
