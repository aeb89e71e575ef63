import { OUTCOME } from '../messages/status-code.ts'
import type { Ports } from '../ports.ts'
import type { CarrierId } from './carrier-id.ts'
import type { ClaimedBatch, ClaimedMessage, DispatcherId, Lane, Settled, SettledCode } from './claimed-batches.ts'
import { maySubmit, type Mode } from './dispatcher-mode.ts'
import { retryOf, type DispatcherSettings } from './dispatcher-settings.ts'
import type { InFlight, OpenBatch } from './in-flight.ts'
import type { OutcomeWriter, Postponed } from './outcome-writer.ts'
import { screenAgain } from './outcomes.ts'
import { noRoute, type QueueNumber } from '../routes/published-routes.ts'
import { chooseQueue, type RouteTurns } from './route-turns.ts'

interface ClaimParts {
  readonly inFlight: InFlight
  readonly outcomes: OutcomeWriter
  readonly turns: RouteTurns
  /** Of the dispatcher: where it has changed meanwhile, a claim opens nothing that may not be submitted. */
  readonly mode: () => Mode
  /** Called when messages have ended without the carrier. */
  readonly ended: () => void
}

/** The claims of a dispatcher, and the epoch under which it makes them. */
export type Claims = ReturnType<typeof createClaims>

export function createClaims(
  { claimedBatches, clock }: Pick<Ports, 'claimedBatches' | 'clock'>,
  carrier: CarrierId,
  { inFlight, outcomes, turns, mode, ended }: ClaimParts,
  settings: DispatcherSettings,
) {
  const { leaseSeconds, version, place } = settings
  let current: DispatcherId | undefined
  let registering: Promise<DispatcherId> | undefined
  let isDisowning = false
  const overflowed: Record<Lane, number> = { single: 0, bulk: 0 }
  /** The queue that was claimed from last. */
  const lastQueue: Record<Lane, QueueNumber> = { single: noRoute, bulk: noRoute }

  /** The epoch, a new one if there is none; all who ask at the same time share one registration. */
  function epoch(): Promise<DispatcherId> {
    if (current !== undefined) return Promise.resolve(current)
    registering ??= claimedBatches
      .register(leaseSeconds, version, place)
      .then((registered) => (current = registered))
      .finally(() => (registering = undefined))
    return registering
  }

  function lose(dispatcher: DispatcherId): void {
    if (current !== dispatcher) return
    current = undefined
    inFlight.forgetLostClaims()
  }

  /** An epoch was declared dead: others have taken over what it held. */
  function fence(dispatcher: DispatcherId): void {
    lose(dispatcher)
    inFlight.fence(dispatcher)
  }

  /** All of the epoch but what is known is given back. */
  async function disown(): Promise<void> {
    const dispatcher = current
    if (dispatcher === undefined) return
    const known = inFlight.batches().map(({ id }) => id)
    await claimedBatches.disown(dispatcher, known)
    if (current === dispatcher) inFlight.forgetLostClaims()
  }

  /** Gives the epoch up: what it still holds is taken over. */
  async function retire(): Promise<void> {
    const dispatcher = current
    if (dispatcher === undefined) return
    await claimedBatches.retire(dispatcher)
    lose(dispatcher)
  }

  /**
   * Claims once from the queue whose turn it is, if any, and opens what it got. Rejects if the store fails; what that
   * claim may have taken counts as in doubt, and nothing should be claimed, until `disownLost`.
   */
  async function claim(
    lane: Lane,
    messagesMax: number,
    markedMax: number,
    isProbe = false,
  ): Promise<'claimed' | 'nothing' | 'turn-of-another'> {
    const claiming = inFlight.startClaim(lane, Math.min(markedMax, messagesMax))
    try {
      const dispatcher = await epoch()
      if (mode() !== 'working') return 'nothing'
      const asking = { carrier, lane, messagesMax, after: lastQueue[lane], isProbe }
      const chosen = await chooseQueue(turns, claimedBatches, asking)
      if (chosen === 'nothing') inFlight.foundNothing(lane)
      if (typeof chosen === 'string') return chosen
      const { queue, turn, overflowSeconds } = chosen
      lastQueue[lane] = queue
      const wanted = {
        ...{ carrier, lane, queue, leaseSeconds, overflowSeconds },
        messagesMax: turn.messagesMax,
        markedMax: Math.min(claiming.markedMax, turn.messagesMax),
      }
      const take = async () => {
        // A message that was refused before proves nothing about the carrier: it is a probe only if there is no other.
        const fresh = isProbe ? await claimedBatches.claim(dispatcher, { ...wanted, fresh: true }) : 'nothing'
        return fresh === 'nothing' ? claimedBatches.claim(dispatcher, wanted) : fresh
      }
      const batch = await take().catch((problem: unknown) => {
        // It may have been declared dead meanwhile: then there is nothing left to give back.
        if (current === dispatcher) inFlight.loseClaim(claiming)
        turn.done(0)
        throw problem
      })
      turn.done(typeof batch === 'string' ? 0 : batch.messages.length)
      if (batch === 'fenced') fence(dispatcher)
      if (typeof batch === 'string') inFlight.foundNothing(lane)
      // What was claimed before an end that came meanwhile has been given back or taken over.
      if (typeof batch === 'string' || !maySubmit(mode()) || current !== dispatcher) return 'nothing'
      // Its marks count as those of the batch from now on, and not twice.
      inFlight.endClaim(claiming)
      if (overflowSeconds !== undefined) overflowed[lane] += batch.messages.length
      const opened = open(lane, dispatcher, batch, queue)
      if (isProbe) giveBackRest(opened)
      return 'claimed'
    } finally {
      inFlight.endClaim(claiming)
    }
  }

  /**
   * Screens once more: what has expired or may not be sent any more ends without the carrier (ruling 1.13). What only
   * others may be given the sender of goes to one of them; where the route has none it is refused.
   */
  function open(lane: Lane, dispatcher: DispatcherId, batch: ClaimedBatch, queue: QueueNumber): OpenBatch {
    const settled: Settled[] = []
    const moved: Postponed[] = []
    for (const message of batch.messages) {
      // By the store's clock: that of a process that is wrong would end what waits (P-18).
      const code = screenAgain(message, batch.at, settings.validitySeconds)
      const other = code ?? otherOver(message, queue)
      if (typeof other === 'number') settled.push({ id: message.id, code: other })
      else if (other !== undefined) moved.push(other)
    }
    const skipped = new Set([...settled.map(({ id }) => id), ...moved.map(({ message }) => message.id)])
    const opened = inFlight.open(lane, dispatcher, batch, skipped, queue, clock.now() - batch.at)
    if (skipped.size > 0) {
      outcomes.settle(opened, settled, moved)
      ended()
    }
    return opened
  }

  /** The rest of a send that was claimed whole gives way to other accounts: a probe may take long, or be refused. */
  function giveBackRest(batch: OpenBatch): void {
    const ids = inFlight.cut(batch)
    if (ids.length === 0) return
    outcomes.giveBack(batch, ids)
    ended()
  }

  /** Where a message goes that this carrier may not be given the sender of; undefined: it may. */
  function otherOver(message: ClaimedMessage, from: QueueNumber): Postponed | SettledCode | undefined {
    if (message.onlyOver === undefined) return undefined
    const other = turns.toOneOf(from, message.onlyOver)
    return other === undefined ? OUTCOME.refused : { message, ...retryOf(settings, message, other) }
  }

  return {
    claim,
    epoch,
    fence,
    /** Renews the lease; 'none': there is none. */
    async extend(): Promise<'alive' | 'none' | { readonly fenced: DispatcherId }> {
      const dispatcher = current
      if (dispatcher === undefined) return 'none'
      const answer = await claimedBatches.extend(dispatcher, leaseSeconds)
      return answer === 'fenced' ? { fenced: dispatcher } : answer
    },
    /** Gives back what failed claims may hold of which nobody knows. False: there is none, or it is not the time. */
    async disownLost(): Promise<boolean> {
      // A claim under way may bring what nobody knows of yet.
      if (isDisowning || current === undefined || inFlight.isClaiming() || !inFlight.hasLostClaims()) return false
      isDisowning = true
      try {
        await disown()
      } finally {
        isDisowning = false
      }
      return true
    },
    retire,
    /** Messages that were claimed because carriers of a better priority were full, since the start. */
    overflowed: (): Readonly<Record<Lane, number>> => overflowed,
    /** Ends the epoch in good order: what failed claims may hold is given back first. */
    async end(): Promise<void> {
      if (inFlight.hasLostClaims()) await disown()
      await retire()
    },
  }
}
