import type { AnswerDeadline } from '@gateway/core/messages'

/** Milliseconds after which a submission is answered RSYSERR. jsmpp gives up after 2 s and its user sends again. */
export const answerMilliseconds = 900

/**
 * Resolves to the result of the work, or to 'late' if its deadline was missed. The store then revokes what it may still
 * commit. Rejects as the work does, unless the deadline was missed before; `failedLate` gets such errors.
 */
export function answerInTime<Result>(
  deadline: AnswerDeadline,
  work: Promise<Result>,
  failedLate: (error: unknown) => void,
  milliseconds = answerMilliseconds,
): Promise<Result | 'late'> {
  return new Promise((resolve, reject) => {
    // If the store has already met the deadline, its result is about to arrive.
    const timer = setTimeout(() => deadline.miss() && resolve('late'), milliseconds)
    work.then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (error: unknown) => {
        clearTimeout(timer)
        if (deadline.isMissed) failedLate(error)
        else reject(error instanceof Error ? error : new Error(String(error)))
      },
    )
  })
}
