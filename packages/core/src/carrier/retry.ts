import type { Parts } from './dispatcher-parts.ts'
import { couldMove } from './flow-control.ts'
import { fence, giveBack, proceed, releaseHeldBack, write } from './proceed.ts'
import type { Work } from './stall.ts'

export function retry(parts: Parts): void {
  giveBack(parts)
  void write(parts, true)
  void disown(parts)
  releaseHeldBack(parts)
  proceed(parts)
  if (!parts.phase.closing && parts.stalls.look((work) => observe(parts, work))) void probe(parts)
}

export const known = ({ inFlight }: Parts) => inFlight.batches().map(({ id }) => id)

/** Gives back what failed claims may hold of which nobody knows; then claims go on. It needs no answer of a carrier. */
async function disown(parts: Parts): Promise<void> {
  const { phase, inFlight, epochs, report } = parts
  if (phase.disowning || inFlight.isClaiming() || !inFlight.hasLostClaims()) return
  phase.disowning = true
  try {
    if (await epochs.disown(known(parts))) inFlight.forgetLostClaims()
  } catch (problem) {
    report(problem)
  }
  phase.disowning = false
  proceed(parts)
}

/** Whether something of the work waits that could move, and how often it has moved. */
function observe({ inFlight, outcomes, waiting, load, availability }: Parts, work: Work) {
  if (work === 'outcomes') return { isWaiting: outcomes.size() > 0, moved: outcomes.commits() }
  const waits = inFlight.ahead(work) > 0 || waiting.has(work) || inFlight.isClaiming(work)
  return { isWaiting: waits && availability() !== 'down' && couldMove(work, load()), moved: inFlight.moves[work] }
}

export const renew = (parts: Parts): Promise<void> =>
  parts.stalls.renewing(async () => {
    const answer = await parts.epochs.extend()
    if (typeof answer === 'object') fence(parts, answer.fenced)
    return answer !== 'none'
  })

/** Finds out whether the store answers, under a new epoch if there is none. */
async function probe(parts: Parts): Promise<void> {
  try {
    await parts.epochs.current()
    await renew(parts)
  } catch (problem) {
    parts.report(problem)
  }
}
