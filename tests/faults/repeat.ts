import { setTimeout as delay } from 'node:timers/promises'
import type { Chance } from '@gateway/core/testing'
import type { Outcome } from './clients.ts'
import type { Figures } from './figures.ts'

const triesMax = 10

/**
 * Sends a request with an idempotency key until an answer arrives or the client gives up. Sometimes sends it once more,
 * and asserts that the answer is the same. `isAnswer` returns false for an answer after which the key is still unused.
 */
export async function askWithKey<Answer>(
  { chance, figures }: { readonly chance: Chance; readonly figures: Figures },
  description: string,
  ask: (isFirst: boolean) => Promise<Outcome<Answer>>,
  isAnswer: (answer: Answer) => boolean = () => true,
): Promise<Outcome<Answer>> {
  const isDone = (outcome: Outcome<Answer>) => outcome.kind === 'answered' && isAnswer(outcome.answer)
  let outcome = await ask(true)
  let wasSent = outcome.kind !== 'unreachable'
  for (let tries = 1; tries < triesMax && !isDone(outcome); tries++) {
    await delay(chance.between(50, 1000))
    outcome = await ask(false)
    wasSent ||= outcome.kind !== 'unreachable'
    if (isDone(outcome)) figures.count('requests with a key: repeated until answered')
  }
  if (outcome.kind === 'unreachable' && wasSent) return { kind: 'lost' }
  if (outcome.kind !== 'answered' || !isDone(outcome) || chance.happens(0.7)) return outcome

  const again = await ask(false)
  if (again.kind !== 'answered') return outcome
  figures.count('requests with a key: repeated after an answer')
  const [first, second] = [outcome, again].map(({ answer }) => JSON.stringify(answer))
  if (first !== second) figures.broken('1.24', `${description} was answered ${first}, and then ${second}`)
  return outcome
}
