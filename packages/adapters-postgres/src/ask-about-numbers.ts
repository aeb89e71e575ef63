import type { AccountId, Msisdn } from '@gateway/core'
import { batcher } from './batcher.ts'
import type { ArrayText } from './sql/arrays.ts'

interface Question {
  readonly by: AccountId
  readonly numbers: readonly Msisdn[]
}

/** Pairs of account and number, as two arrays; returns answers by the place of their pair, from 1. */
type Ask<Answer> = (accounts: ArrayText, numbers: ArrayText) => Promise<ReadonlyMap<number, Answer>>

/**
 * Asks for many senders at once: questions that come while one is under way go together into the next. Returns what
 * there is of each question, by number.
 */
export function askAboutNumbers<Answer>(
  ask: Ask<Answer>,
): (question: Question) => Promise<ReadonlyMap<Msisdn, Answer>> {
  const nothing: ReadonlyMap<Msisdn, Answer> = new Map()

  async function run(questions: readonly Question[]): Promise<readonly ReadonlyMap<Msisdn, Answer>[]> {
    // One list after the other: flatMap took as long for a number as all the rest of this.
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
