import type { Ports } from '../ports.ts'
import { noBatch, noDispatcher, screenAgain, type ClaimedMessage, type Recorded } from './claimed-batches.ts'
import type { Carrier, Submission, SubmissionAnswer } from './carrier.ts'
import { submissionOf } from './submissions.ts'

/**
 * Minimum seconds between an unknown outcome and its repetition. Before that, the carrier itself repeats the message.
 */
const afterSeconds = 60
/** Maximum number of messages submitted by one call. */
const countMax = 20

/**
 * Submits messages of unknown outcome again to the carrier that may have them, if the carrier recognizes them by their
 * own ids (ruling 1.17). This also covers messages that a killed process submitted. Answers resolve the messages;
 * without one a message stays at 106, and is submitted again later, until the time of the carrier's guarantee is over.
 * Returns the number of resolved messages.
 */
export const repeatUnknown =
  ({ claimedBatches, clock }: Pick<Ports, 'claimedBatches' | 'clock'>, carrier: Carrier) =>
  async (validitySeconds: number): Promise<number> => {
    const { repeatableSeconds: withinSeconds } = carrier
    if (withinSeconds === undefined || carrier.mode() !== 'running' || carrier.availability() !== 'available') return 0
    const selection = { withinSeconds, afterSeconds, countMax }
    const messages = (await claimedBatches.takeRepeatable(carrier.id, selection)).filter(
      (message) => message.onlyOver === undefined && screenAgain(message, clock.now(), validitySeconds) === undefined,
    )
    if (messages.length === 0) return 0
    const now = clock.now()
    const answers = await submitAll(
      carrier,
      messages.map((message) => {
        const validSeconds = message.expires && Math.max(1, (message.expires - now) / 1000)
        return { ...submissionOf(message), ...(validSeconds !== undefined && { validSeconds }) }
      }),
    )
    const recorded = answers.flatMap((answer) => recordedOf(answer, messages))
    if (recorded.length > 0) await claimedBatches.record(noDispatcher, recorded)
    return recorded.length
  }

/** Submits messages and waits for all answers. */
const submitAll = (carrier: Carrier, messages: readonly Submission[]): Promise<readonly SubmissionAnswer[]> =>
  new Promise((resolve) => {
    const answers: SubmissionAnswer[] = []
    carrier.submit(messages, (some) => {
      answers.push(...some)
      if (answers.length === messages.length) resolve(answers)
    })
  })

/** Returns the outcome to record for an answer; nothing if the outcome is still unknown. */
function recordedOf(answer: SubmissionAnswer, messages: readonly ClaimedMessage[]): Recorded | [] {
  const { id, ...handover } = answer
  const message = messages.find((one) => one.id === id)
  if (message === undefined || handover.outcome === 'unknown' || handover.outcome === 'refused-for-now') return []
  return { batch: noBatch, message, handover }
}
