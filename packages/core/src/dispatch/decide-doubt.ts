import type { Ports } from '../ports.ts'
import type { DoubtDecision } from './promotions.ts'

/**
 * Result of a decision. `proved` is the number of messages that receipts proved to have been submitted before the
 * decision.
 */
export type DoubtDecided =
  | { readonly outcome: 'done'; readonly messages: number; readonly proved: number }
  | { readonly outcome: 'nothing-in-doubt'; readonly proved: number }
  | { readonly outcome: 'decided-otherwise' }

/** Age in seconds below which a receipt may still be matched to its message in the usual way. */
export const proofAgeSeconds = 60

/**
 * Maximum number of messages moved per call. Calls stay short, and messages already moved stay moved if the next call
 * fails.
 */
const messagesOfCall = 10_000

/**
 * Decides about all messages in doubt and carries the decision out (P-5), after recording what late receipts prove.
 * Calling again with the same decision, also after a failure half-way, continues with the remaining messages.
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
