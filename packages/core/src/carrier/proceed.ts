import type { Submission, SubmissionAnswer } from './carrier.ts'
import type { ClaimedMessage, DispatcherId } from './claimed-batches.ts'
import type { Parts } from './dispatcher-parts.ts'
import { retryDelay } from './dispatcher-settings.ts'
import { submitRoom } from './flow-control.ts'
import type { OpenBatch } from './in-flight.ts'

/** Something moved: send what may leave, mark what may be marked, wake who waits for room. */
export function proceed(parts: Parts): void {
  const { inFlight, changes } = parts
  for (const batch of inFlight.batches()) submit(parts, batch)
  for (const batch of inFlight.batches()) void mark(parts, batch)
  changes.notify()
}

async function mark(parts: Parts, batch: OpenBatch): Promise<void> {
  const { ports, inFlight, report } = parts
  const upTo = inFlight.startMark(batch, parts.marks)
  if (upTo === undefined) return
  try {
    const answer = await ports.claimedBatches.mark(batch.dispatcher, batch.id, upTo)
    if (answer === 'fenced') fence(parts, batch.dispatcher)
    else inFlight.confirmMark(batch)
  } catch (problem) {
    inFlight.failMark(batch)
    report(problem)
    return
  }
  proceed(parts)
}

function submit(parts: Parts, batch: OpenBatch): void {
  if (batch.next === batch.marked) return
  const leaving = parts.inFlight.submit(batch, submitRoom(batch.lane, parts.load()))
  if (leaving.length === 0) return
  const submissions = leaving.map(({ id, from, to, body }): Submission => ({ id, from, to, body }))
  parts.carrier.submit(submissions, (answers) => answered(parts, answers))
}

function answered(parts: Parts, answers: readonly SubmissionAnswer[]): void {
  const { inFlight, throughput, gathering } = parts
  for (const answer of answers) {
    const pending = inFlight.answer(answer.id)
    if (pending !== undefined) keep(parts, pending.batch, pending.message, answer)
  }
  throughput.answered(answers.length, inFlight.unanswered.size)
  gathering.answered(answers.length)
  void write(parts)
  proceed(parts)
}

function keep(parts: Parts, batch: OpenBatch, message: ClaimedMessage, answer: SubmissionAnswer): void {
  const { outcomes } = parts
  if (answer.outcome === 'refused-for-now') postpone(parts, batch, message)
  else {
    const { id: _, ...handover } = answer
    outcomes.record(batch, message, handover)
  }
}

/** At the first time another carrier of the route has it at once, if there is one; else it waits. */
function postpone({ outcomes, settings, turns, carrier }: Parts, batch: OpenBatch, message: ClaimedMessage): void {
  const { queue, isTakenOver } = turns.afterRefusal(batch.queue, carrier.id)
  const seconds = isTakenOver && message.attempt === 0 ? 0 : retryDelay(settings, message.attempt)
  outcomes.postpone(batch, message, seconds, queue)
}

/** While the carrier is down others have what is not marked. */
export function giveBack(parts: Parts): void {
  const { inFlight, outcomes, phase, availability } = parts
  if (phase.ended || availability() !== 'down') return
  for (const batch of inFlight.batches()) {
    const ids = inFlight.cut(batch)
    if (ids.length > 0) outcomes.giveBack(batch, ids)
  }
  if (outcomes.size() > 0) void write(parts, true)
}

/** Commits the outcomes that wait, and those that come meanwhile, unless more of them come soon; `flush`: in any case. */
export async function write(parts: Parts, flush = false): Promise<void> {
  const { phase, outcomes, epochs, inFlight, gathering, report } = parts
  if (phase.writing) return
  phase.writing = true
  const isWorthIt = (): boolean =>
    outcomes.gathering() === 0 || !gathering.isWorthIt(inFlight.unanswered.size, () => void write(parts, true))
  for (let goesOn = true; goesOn && outcomes.size() > 0 && (flush || isWorthIt()); flush = false) {
    gathering.ended()
    const { fenced, problems } = await outcomes.write()
    goesOn = problems.length === 0
    for (const dispatcher of fenced) if (epochs.lose(dispatcher)) inFlight.forgetLostClaims()
    for (const problem of problems) report(problem)
    // What may leave now leaves first: the carrier works on it meanwhile.
    proceed(parts)
    releaseHeldBack(parts)
  }
  phase.writing = false
}

export function releaseHeldBack({ receipts, inbound }: Parts): void {
  receipts.run()
  inbound.run()
}

/** The dispatcher was declared dead. */
export function fence(parts: Parts, dispatcher: DispatcherId): void {
  if (parts.epochs.lose(dispatcher)) parts.inFlight.forgetLostClaims()
  parts.inFlight.fence(dispatcher)
  proceed(parts)
}
