import type { AccountId, Msisdn, SenderAddress } from '@gateway/core'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { batcher } from '../batcher.ts'
import type { Connections } from '../connections.ts'
import { arrayOf } from '../sql/arrays.ts'
import { chooseSenders, chosenSenders } from '../sql/choose-senders.ts'
import type { SenderNumbers } from './sender-numbers.ts'

type Chosen = ReadonlyMap<Msisdn, number>

interface Question {
  readonly by: AccountId
  readonly numbers: readonly Msisdn[]
}

/** Looks first, for many at once: only a number that an account has not written to before costs a commit. */
export function createChoose(hot: Connections, senders: SenderNumbers) {
  async function look(questions: readonly Question[]): Promise<readonly Chosen[]> {
    const accounts = questions.flatMap(({ by, numbers }) => numbers.map(() => by))
    const numbers = questions.flatMap((question) => question.numbers)
    const rows = await retryOnConnectionLoss(hot, chosenSenders, [arrayOf(accounts), arrayOf(numbers)])
    const chosen = new Map(rows.map(({ place, sender }) => [place, sender]))
    let place = 0
    return questions.map((question) => {
      const found = new Map<Msisdn, number>()
      for (const number of question.numbers) {
        const sender = chosen.get(++place)
        if (sender !== undefined) found.set(number, sender)
      }
      return found
    })
  }
  const weight = ({ numbers }: Question) => numbers.length
  const line = batcher({ inFlightMax: 2, jobsMax: 256, weightMax: 4000, weight, run: look })

  return async (
    by: AccountId,
    numbers: readonly Msisdn[],
    pool: readonly SenderAddress[],
  ): Promise<readonly SenderAddress[]> => {
    if (numbers.length === 0) return []
    const ids = await senders.numbersOf(new Set(pool))
    const offered = new Map(pool.map((address) => [ids.get(address) ?? 0, address]))
    const distinct = [...new Set(numbers)]
    const chosen = new Map(await line.add({ by, numbers: distinct }))
    const missing = distinct.filter((number) => !offered.has(chosen.get(number) ?? 0))
    if (missing.length > 0) {
      const preferred = turned([...offered.keys()], by)
      for (const { number, sender } of await retryOnConnectionLoss(hot, chooseSenders, [
        by,
        arrayOf(missing),
        arrayOf(preferred),
      ])) {
        chosen.set(String(number) as Msisdn, sender)
      }
    }
    return numbers.map((number) => offered.get(chosen.get(number) ?? 0) ?? nobody())
  }
}

/** Each account begins at another one, so that they are all used as much. */
const turned = (senders: readonly number[], by: AccountId): readonly number[] =>
  senders.map((_, i) => senders[(by + i) % senders.length] ?? 0)

function nobody(): never {
  throw new Error('no address to send from was chosen')
}
