import type { Ports } from '../ports.ts'
import type { DoubtDecision } from './promotions.ts'

/** What came of a decision. `proved`: messages that receipts proved to have been submitted before it was made. */
export type DoubtDecided =
  | { readonly outcome: 'done'; readonly messages: number; readonly proved: number }
  | { readonly outcome: 'nothing-in-doubt'; readonly proved: number }
  | { readonly outcome: 'decided-otherwise' }

/** Receipts younger than this may yet find their message by themselves. */
export const proofAgeSeconds = 60

/** Messages that one call moves: it stays short, and what was moved stays so if the next one fails. */
const messagesOfCall = 10_000

/**
 * Decides about all messages in doubt, and carries it out (P-5). What late receipts prove is taken first. Whoever calls
 * again with the same decision, also after a failure in the middle, goes on with what is left.
 */
export const decideDoubt =
  ({ promotions }: Pick<Ports, 'promotions'>) =>
  async (decision: DoubtDecision, by: string): Promise<DoubtDecided> => {
    const proved = await promotions.takeProofs(proofAgeSeconds)
    const decided = await promotions.decide(decision, by)
    if (decided === 'decided-otherwise') return { outcome: decided }
    if (decided === 'nothing-in-doubt') return { outcome: decided, proved }
    let messages = 0
    for (;;) {
      const moved = await promotions.carryOut(messagesOfCall)
      if (moved === 0) return { outcome: 'done', messages, proved }
      messages += moved
    }
  }
