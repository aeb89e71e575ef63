import { setImmediate as nextTurn } from 'node:timers'
import type { Submission, SubmissionAnswer } from '@gateway/core/dispatch'
import { messageOutcome, type Answered, type MessageOutcome, type OutgoingMessage } from './outgoing-message.ts'

/**
 * Answers of a carrier on their way to the dispatcher. Reports the answers of one turn of the event loop together, in
 * one call for each callback.
 *
 *   expected --finish--> collected --end of the turn, or give--> reported
 */
export class Answers {
  readonly #collected = new Map<Answered, SubmissionAnswer[]>()
  /** Number of submissions whose answer has not been reported yet. */
  #unanswered = 0
  #isReportDue = false
  #quieted: (() => void)[] = []

  get unanswered(): number {
    return this.#unanswered
  }

  /** Adds `count` expected answers. */
  expect(count: number): void {
    this.#unanswered += count
  }

  /** Adds the answer of a message that has no unanswered part. */
  finish({ message, answered, outcomes }: OutgoingMessage<unknown>): void {
    let list = this.#collected.get(answered)
    if (list === undefined) this.#collected.set(answered, (list = []))
    list.push(answerOf(message, messageOutcome(outcomes.length === 0 ? ['retry'] : outcomes)))
    if (this.#isReportDue) return
    this.#isReportDue = true
    nextTurn(this.#endTurn)
  }

  /** Reports the collected answers now. */
  give(): void {
    const all = [...this.#collected]
    this.#collected.clear()
    for (const [answered, list] of all) {
      this.#unanswered -= list.length
      answered(list)
    }
    if (this.#unanswered > 0) return
    for (const resolve of this.#quieted) resolve()
    this.#quieted = []
  }

  /** Resolves when all answers are reported. */
  quiet(): Promise<void> {
    return new Promise((resolve) => (this.#unanswered === 0 ? resolve() : void this.#quieted.push(resolve)))
  }

  #endTurn = (): void => {
    this.#isReportDue = false
    this.give()
  }
}

function answerOf({ id }: Submission, outcome: MessageOutcome): SubmissionAnswer {
  if (outcome === 'opted-out') return { id, outcome: 'refused', optOut: true }
  if (typeof outcome === 'string') return { id, outcome }
  const isWhole = 'accepted' in outcome
  const references = isWhole ? outcome.accepted : outcome.partly
  const { price } = outcome
  const accepted = { id, outcome: isWhole ? 'accepted' : 'partly', reference: references[0] ?? '' } as const
  const answer = price === undefined ? accepted : { ...accepted, price }
  return references.length > 1 ? { ...answer, furtherReferences: references.slice(1) } : answer
}
