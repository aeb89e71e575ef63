import type { AccountId, IdempotencyKey } from '@gateway/core'
import { costOf, type Job } from './job.ts'
import type { LaidOut } from './lay-out.ts'

/** A first answer (ruling 1.24), but for the balance, which the statement knows that charges. */
export interface AnswerToKeep {
  readonly account: AccountId
  readonly key: IdempotencyKey
  readonly digest: string
  /** What later orders of its account cost, that are stored with it. */
  readonly later: number
  readonly text: string
}

/** The answers to jobs with a key of which somebody is accepted. */
export function answersToKeep(jobs: readonly Job[], laidOut: readonly LaidOut[]): readonly AnswerToKeep[] {
  if (jobs.every(({ repeatable }) => repeatable === undefined)) return []
  const later = new Map<AccountId, number>()
  return laidOut
    .map((laid, i) => ({ laid, repeatable: jobs[i]?.repeatable }))
    .toReversed()
    .flatMap(({ laid: { account, sends, results }, laid, repeatable }) => {
      const before = later.get(account) ?? 0
      later.set(account, before + costOf(laid))
      if (repeatable === undefined || sends.length === 0) return []
      const { key, digest, answer } = repeatable
      return [{ account, key, digest, later: before, text: answer(results) }]
    })
}
