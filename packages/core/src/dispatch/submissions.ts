import type { Ports } from '../ports.ts'
import type { Carrier, Submission, SubmissionAnswer } from './carrier.ts'
import type { ClaimedMessage } from './claimed-batches.ts'
import { maySubmit, type Mode } from './dispatcher-mode.ts'
import { retryOf, type DispatcherSettings } from './dispatcher-settings.ts'
import type { FlowControl } from './flow-control.ts'
import { createHistogram, type HistogramCounts } from '../fleet/histogram.ts'
import type { InFlight } from './in-flight.ts'
import { BrokenInvariant, type OpenBatch } from './open-batch.ts'
import type { OutcomeWriter } from './outcome-writer.ts'
import type { RouteTurns } from './route-turns.ts'

/** Bounds of the histogram of waiting times, in seconds. */
const waitBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600]

interface SubmissionParts {
  readonly inFlight: InFlight
  readonly outcomes: OutcomeWriter
  readonly flow: FlowControl
  readonly turns: RouteTurns
  /** Returns the dispatcher's mode. */
  readonly mode: () => Mode
  /** Called with answers, which it passes to `keep`. */
  readonly answered: (answers: readonly SubmissionAnswer[]) => void
  /** Called when messages have ended without being submitted. */
  readonly ended: () => void
}

/**
 * Submits messages of one dispatcher to its carrier, evaluates the answers, and gives messages back for other carriers.
 */
export class Submissions {
  readonly #clock: Ports['clock']
  readonly #carrier: Carrier
  readonly #parts: SubmissionParts
  readonly #settings: DispatcherSettings
  readonly #waits = createHistogram(waitBounds)

  constructor({ clock }: Pick<Ports, 'clock'>, carrier: Carrier, parts: SubmissionParts, settings: DispatcherSettings) {
    this.#clock = clock
    this.#carrier = carrier
    this.#parts = parts
    this.#settings = settings
  }

  /**
   * Returns a histogram of the seconds from the due time of each message to its first submission, since the start of
   * the process. The due time of a message that was not scheduled is the time of its acceptance.
   */
  waits(): HistogramCounts {
    return this.#waits.read()
  }

  /** Submits the next `max` marked messages of a batch, or as many as the window has room for if `max` is omitted. */
  submit(batch: OpenBatch, max?: number): void {
    const { inFlight, flow, mode, answered } = this.#parts
    if (batch.next === batch.marked) return
    if (!maySubmit(mode())) throw new BrokenInvariant(`a dispatcher in mode ${mode()} must not submit`)
    const wasIdle = inFlight.unanswered.size === 0
    const leaving = inFlight.submit(batch, max ?? flow.submitRoom(batch.lane), this.#clock.now())
    const submissions = this.#submissionsOf(batch, leaving)
    if (submissions.length === 0) return
    if (wasIdle) flow.began()
    this.#carrier.submit(submissions, answered)
  }

  /**
   * Evaluates answers. A message that the carrier temporarily refuses goes to another carrier of the route at once if
   * this is the first refusal of the message and the route has another carrier. Otherwise the message waits.
   */
  keep(answers: readonly SubmissionAnswer[]): void {
    const { inFlight, outcomes, flow, turns } = this.#parts
    const now = this.#clock.now()
    let quickest = Infinity
    for (const answer of answers) {
      const pending = inFlight.answer(answer.id)
      if (pending === undefined) continue
      const { batch, message, leftAt } = pending
      quickest = Math.min(quickest, now - leftAt)
      const { id: _, ...handover } = answer
      if (handover.outcome === 'refused-for-now') {
        const { seconds, queue } = retryOf(this.#settings, message, turns.afterRefusal(batch.queue, this.#carrier.id))
        outcomes.postpone(batch, message, seconds, queue)
      } else outcomes.record(batch, message, handover)
    }
    flow.answered(answers.length, quickest)
  }

  /**
   * Returns unmarked messages to the queue so that other dispatchers can claim them. This happens when the dispatcher
   * stops, while the carrier is down, and while the carrier is throttled or probing and another carrier has room
   * (P-17).
   */
  giveBack(): void {
    const { inFlight, outcomes, flow, turns, mode } = this.#parts
    const availability = flow.availability()
    const isDown = availability === 'down'
    for (const batch of inFlight.batches()) {
      const isForOthers = availability !== 'available' && turns.hasOther(batch.queue, this.#carrier.id, batch.lane)
      if (!isForOthers && mode() === 'working' && !isDown) continue
      const ids = inFlight.cut(batch)
      if (ids.length > 0) outcomes.giveBack(batch, ids)
      // Marked messages cannot be submitted if the carrier is paused, or if it is down while the dispatcher stops. They
      // are handed back to the queue, so that they do not end as unknown.
      const isStopped = mode() === 'draining' || this.#carrier.mode() !== 'running'
      const isHandedBack = isForOthers || (isDown && isStopped)
      if (!isHandedBack) continue
      this.submit(batch, batch.marked - batch.next)
      this.#carrier.handBack()
    }
  }

  /**
   * Returns the submissions of these messages, each with the remaining seconds of its validity (ruling 1.29). A message
   * that has expired since it was claimed ends without being submitted.
   */
  #submissionsOf(batch: OpenBatch, leaving: readonly ClaimedMessage[]): readonly Submission[] {
    const { inFlight, outcomes, ended } = this.#parts
    const late: ClaimedMessage[] = []
    const now = leaving.length === 0 ? 0 : this.#clock.now() - batch.clockAhead
    const submissions = leaving.flatMap((message): Submission | [] => {
      const { expires, due, attempt } = message
      if (attempt === 0) this.#waits.observe(Math.max(0, now - due) / 1000)
      if (expires === undefined) return submissionOf(message)
      if (expires > now) return { ...submissionOf(message), validSeconds: (expires - now) / 1000 }
      late.push(message)
      return []
    })
    for (const { id } of late) inFlight.answer(id)
    if (late.length > 0) {
      outcomes.expire(batch, late)
      ended()
    }
    return submissions
  }
}

/** Returns the submission of a message without a validity of its own. */
export const submissionOf = ({ id, from, to, body, due, options, attempt }: ClaimedMessage): Submission => ({
  ...{ id, from, to, body, due, options },
  ...(attempt > 0 && { refusedBefore: true }),
})
