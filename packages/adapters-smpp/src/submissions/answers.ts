import { setImmediate as nextTurn } from 'node:timers'
import type { Submission, SubmissionAnswer } from '@gateway/core'
import type { Job, Answered } from './job.ts'
import { messageOutcome, type MessageOutcome } from './message-outcome.ts'

/** Gives the answers of one turn of the event loop together, in one call for each callback. */
export interface Answers {
  /** So many answers more are owed. */
  expect(count: number): void
  /** Nothing of the message is under way any more. */
  finish(job: Job): void
  /** Gives what waits for the end of the turn. */
  give(): void
  unanswered(): number
  /** Resolves when everything is answered. */
  quiet(): Promise<void>
}

export function createAnswers(): Answers {
  const waiting = new Map<Answered, SubmissionAnswer[]>()
  let unanswered = 0
  let giving: NodeJS.Immediate | undefined
  let quieted: (() => void)[] = []

  function endTurn(): void {
    giving = undefined
    give()
  }

  function give(): void {
    const all = [...waiting]
    waiting.clear()
    for (const [answered, list] of all) {
      unanswered -= list.length
      answered(list)
    }
    if (unanswered > 0) return
    for (const resolve of quieted) resolve()
    quieted = []
  }

  return {
    expect: (count) => void (unanswered += count),
    finish({ message, answered, outcomes }) {
      let list = waiting.get(answered)
      if (list === undefined) waiting.set(answered, (list = []))
      list.push(answerOf(message, messageOutcome(outcomes.length === 0 ? ['retry'] : outcomes)))
      giving ??= nextTurn(endTurn)
    },
    give,
    unanswered: () => unanswered,
    quiet: () => new Promise((resolve) => (unanswered === 0 ? resolve() : void quieted.push(resolve))),
  }
}

function answerOf({ id }: Submission, outcome: MessageOutcome): SubmissionAnswer {
  if (typeof outcome === 'string') return { id, outcome }
  const isWhole = 'accepted' in outcome
  const references = isWhole ? outcome.accepted : outcome.partly
  const answer = { id, outcome: isWhole ? 'accepted' : 'partly', reference: references[0] ?? '' } as const
  return references.length > 1 ? { ...answer, furtherReferences: references.slice(1) } : answer
}
