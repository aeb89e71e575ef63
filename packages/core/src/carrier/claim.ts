import type { ClaimedBatch, DispatcherId, Lane, Settled } from './claimed-batches.ts'
import type { Parts } from './dispatcher-parts.ts'
import { claimSize, markRoom } from './flow-control.ts'
import { screenAgain } from './outcomes.ts'
import { fence, proceed, write } from './proceed.ts'
import type { QueueNumber } from './published-routes.ts'

export async function work(parts: Parts, lane: Lane): Promise<'claimed' | 'nothing' | 'closed'> {
  const { phase, inFlight, waiting, changes } = parts
  for (;;) {
    if (phase.closing) return 'closed'
    const size = inFlight.hasLostClaims() ? 0 : claimSize(lane, parts.load())
    if (parts.availability() === 'down') return 'nothing'
    const worked = size > 0 ? await claim(parts, lane, size) : 'turn-of-another'
    if (worked !== 'turn-of-another') return worked
    waiting.add(lane)
    await changes.next()
    waiting.delete(lane)
  }
}

async function claim(
  parts: Parts,
  lane: Lane,
  messagesMax: number,
): Promise<'claimed' | 'nothing' | 'turn-of-another'> {
  const { ports, carrier, settings, phase, inFlight, epochs } = parts
  const claiming = inFlight.startClaim(lane, Math.min(markRoom(lane, parts.load()), messagesMax))
  try {
    const dispatcher = await epochs.current()
    if (phase.closing) return 'nothing'
    const chosen = await chooseQueue(parts, lane, messagesMax)
    if (chosen === 'nothing') inFlight.foundNothing(lane)
    if (typeof chosen === 'string') return chosen
    const { queue, turn } = chosen
    const { leaseSeconds } = settings
    const wanted = {
      ...{ carrier: carrier.id, lane, queue, leaseSeconds },
      messagesMax: turn.messagesMax,
      markedMax: Math.min(claiming.markedMax, turn.messagesMax),
    }
    const batch = await ports.claimedBatches.claim(dispatcher, wanted).catch((problem: unknown) => {
      // It may have been declared dead meanwhile: then there is nothing left to give back.
      if (epochs.isOurs(dispatcher)) inFlight.loseClaim(claiming)
      turn.done(0)
      throw problem
    })
    turn.done(typeof batch === 'string' ? 0 : batch.messages.length)
    if (batch === 'fenced') fence(parts, dispatcher)
    if (typeof batch === 'string') inFlight.foundNothing(lane)
    // What was claimed before an end that came meanwhile has been given back or taken over.
    if (typeof batch === 'string' || phase.ended || !epochs.isOurs(dispatcher)) return 'nothing'
    admit(parts, lane, dispatcher, batch, queue)
    return 'claimed'
  } finally {
    inFlight.endClaim(claiming)
    proceed(parts)
  }
}

/** The next queue after the last one in which something waits and it is this carrier's turn. Where there is only one nobody looks first. */
async function chooseQueue(parts: Parts, lane: Lane, messagesMax: number) {
  const { ports, carrier, turns, lastQueue } = parts
  const claimable = await turns.claimable(carrier.id)
  const [only] = claimable
  const isAlone = claimable.length === 1 && only?.equals.length === 0
  const numbers = claimable.map(({ queue }) => queue)
  const found = isAlone || only === undefined ? numbers : await ports.claimedBatches.queuesWithWork(lane, numbers)
  if (found.length === 0) return 'nothing'
  const from = found.findIndex((queue) => numbers.indexOf(queue) > numbers.indexOf(lastQueue[lane]))
  for (const queue of [...found.slice(Math.max(0, from)), ...found.slice(0, Math.max(0, from))]) {
    const at = claimable.find((one) => one.queue === queue)
    const turn = at && turns.take(at, carrier.id, lane, messagesMax)
    if (turn === undefined) continue
    lastQueue[lane] = queue
    return { queue, turn }
  }
  return 'turn-of-another'
}

/** Screens once more: what has expired or may not be sent any more ends without the carrier (ruling 1.13). */
function admit(parts: Parts, lane: Lane, dispatcher: DispatcherId, batch: ClaimedBatch, queue: QueueNumber): void {
  const { settings, inFlight, outcomes } = parts
  const settled = batch.messages.flatMap((message): Settled[] => {
    // By the store's clock: that of a process that is wrong would end what waits (P-18).
    const code = screenAgain(message, batch.at, settings.validitySeconds)
    return code === undefined ? [] : [{ id: message.id, code }]
  })
  const open = inFlight.open(lane, dispatcher, batch, new Set(settled.map(({ id }) => id)), queue)
  if (settled.length === 0) return
  outcomes.settle(open, settled)
  void write(parts)
}
