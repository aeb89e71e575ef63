import type { AccountId, Msisdn, Suppression } from '@gateway/core'
import { batcher } from '../batcher.ts'
import type { Connections } from '../connections.ts'
import { matchingSuppressions } from '../sql/matching-suppressions.ts'
import { suppressionOf } from './suppression-kind.ts'

export type Matches = ReadonlyMap<Msisdn, ReadonlySet<Suppression>>

interface Question {
  readonly by: AccountId
  readonly numbers: readonly Msisdn[]
}

const nothing: Matches = new Map()

/** Asks for many senders at once: questions that come while one is under way go together into the next. */
export function matchNumbers(hot: Connections): (question: Question) => Promise<Matches> {
  async function run(questions: readonly Question[]): Promise<readonly Matches[]> {
    // One list after the other: flatMap took as long for a number as all the rest of this.
    const accounts = questions.map(({ by, numbers }) => `${by},`.repeat(numbers.length)).join('')
    const numbers = questions.map((question) => question.numbers.join()).join()
    const rows = await hot.run(matchingSuppressions, [`{${accounts.slice(0, -1)}}`, `{${numbers}}`])
    if (rows.length === 0) return questions.map(() => nothing)

    const kinds = new Map<number, Set<Suppression>>()
    for (const { place, kind } of rows) kinds.set(place, (kinds.get(place) ?? new Set()).add(suppressionOf(kind)))

    let place = 0
    return questions.map((question) => {
      const matches = new Map<Msisdn, ReadonlySet<Suppression>>()
      for (const number of question.numbers) {
        const found = kinds.get(++place)
        if (found !== undefined) matches.set(number, found)
      }
      return matches
    })
  }
  const weight = ({ numbers }: Question) => numbers.length
  const line = batcher({ inFlightMax: 2, jobsMax: 256, weightMax: 4000, weight, run })
  return (question) => line.add(question)
}
