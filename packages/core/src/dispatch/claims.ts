import { OUTCOME } from '../messages/status-code.ts'
import type { Ports } from '../ports.ts'
import type { CarrierId } from './carrier-id.ts'
import type { ClaimedBatch, ClaimedMessage, DispatcherId, Lane, Settled, SettledCode } from './claimed-batches.ts'
import { maySubmit, type Mode } from './dispatcher-mode.ts'
import { retryOf, type DispatcherSettings } from './dispatcher-settings.ts'
import type { InFlight } from './in-flight.ts'
import type { OpenBatch } from './open-batch.ts'
import type { OutcomeWriter, Postponed } from './outcome-writer.ts'
import { screenAgain } from './outcomes.ts'
import { noRoute, type QueueNumber } from '../routes/published-routes.ts'
import { chooseQueue, type RouteTurns } from './route-turns.ts'

interface ClaimParts {
  readonly inFlight: InFlight
  readonly outcomes: OutcomeWriter
  readonly turns: RouteTurns
  /**
   * Returns the dispatcher's mode. If the mode has changed during a claim, the claim opens no batch that may not be
   * submitted.
   */
  readonly mode: () => Mode
  /** Called when messages have ended without being submitted to the carrier. */
  readonly ended: () => void
}

/** Claims of a dispatcher and the epoch under which it makes them. */
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
  /** Queue of the last claim. */
  const lastQueue: Record<Lane, QueueNumber> = { single: noRoute, bulk: noRoute }

  /** Returns the current epoch, or registers a new one. Concurrent callers share one registration. */
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

  /** Drops an epoch that was declared dead, because other dispatchers have taken over its messages. */
  function fence(dispatcher: DispatcherId): void {
    lose(dispatcher)
    inFlight.fence(dispatcher)
  }

  /** Gives back all batches of the epoch except the open ones. */
  async function disown(): Promise<void> {
    const dispatcher = current
    if (dispatcher === undefined) return
    const known = inFlight.batches().map(({ id }) => id)
    await claimedBatches.disown(dispatcher, known)
    if (current === dispatcher) inFlight.forgetLostClaims()
  }

  /** Ends the epoch; other dispatchers take over the messages that it still holds. */
  async function retire(): Promise<void> {
    const dispatcher = current
    if (dispatcher === undefined) return
    await claimedBatches.retire(dispatcher)
    lose(dispatcher)
  }

  /**
   * Claims once from the queue whose turn it is, if any, and opens the claimed batch. Rejects if the store fails.
   * Messages that the failed claim may have marked then count as in doubt, and no further claim should be made until
   * `disownLost`.
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
      const request = { carrier, lane, messagesMax, after: lastQueue[lane], isProbe }
      const chosen = await chooseQueue(turns, claimedBatches, request)
      if (chosen === 'nothing') inFlight.foundNothing(lane)
      if (typeof chosen === 'string') return chosen
      const { queue, turn, overflowSeconds } = chosen
      lastQueue[lane] = queue
      const claimRequest = {
        ...{ carrier, lane, queue, leaseSeconds, overflowSeconds },
        messagesMax: turn.messagesMax,
        markedMax: Math.min(claiming.markedMax, turn.messagesMax),
      }
      const claimBatch = async () => {
        // Prefer a message that was never refused, because a refused one proves nothing about the carrier.
        const fresh = isProbe ? await claimedBatches.claim(dispatcher, { ...claimRequest, fresh: true }) : 'nothing'
        return fresh === 'nothing' ? claimedBatches.claim(dispatcher, claimRequest) : fresh
      }
      const batch = await claimBatch().catch((problem: unknown) => {
        // If the epoch was declared dead meanwhile, there is nothing left to give back.
        if (current === dispatcher) inFlight.loseClaim(claiming)
        turn.done(0)
        throw problem
      })
      turn.done(typeof batch === 'string' ? 0 : batch.messages.length)
      if (batch === 'fenced') fence(dispatcher)
      if (typeof batch === 'string') inFlight.foundNothing(lane)
      // A dispatcher that ended during the claim has given its messages back, or others have taken them over.
      if (typeof batch === 'string' || !maySubmit(mode()) || current !== dispatcher) return 'nothing'
      // From now on its marks count as marks of the batch; they must not count twice.
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
   * Opens a claimed batch and screens its messages once more: those that have expired or may no longer be sent end
   * without being submitted (ruling 1.13). A message whose sender only other carriers may be given goes to one of them,
   * or is refused if the route has none.
   */
  function open(lane: Lane, dispatcher: DispatcherId, batch: ClaimedBatch, queue: QueueNumber): OpenBatch {
    const settled: Settled[] = []
    const moved: Postponed[] = []
    for (const message of batch.messages) {
      // Use the store's clock, because a process with a wrong clock would expire waiting messages (P-18).
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

  /**
   * Gives back all but the probe of a send that was claimed whole, because the probe may take long or be refused and
   * other accounts wait.
   */
  function giveBackRest(batch: OpenBatch): void {
    const ids = inFlight.cut(batch)
    if (ids.length === 0) return
    outcomes.giveBack(batch, ids)
    ended()
  }

  /** Returns the queue for a message whose sender this carrier may not be given; undefined if it may. */
  function otherOver(message: ClaimedMessage, from: QueueNumber): Postponed | SettledCode | undefined {
    if (message.onlyOver === undefined) return undefined
    const other = turns.toOneOf(from, message.onlyOver)
    return other === undefined ? OUTCOME.refused : { message, ...retryOf(settings, message, other) }
  }

  return {
    claim,
    epoch,
    fence,
    /** Renews the lease; 'none' if there is no lease. */
    async extend(): Promise<'alive' | 'none' | { readonly fenced: DispatcherId }> {
      const dispatcher = current
      if (dispatcher === undefined) return 'none'
      const answer = await claimedBatches.extend(dispatcher, leaseSeconds)
      return answer === 'fenced' ? { fenced: dispatcher } : answer
    },
    /**
     * Gives back batches that failed claims may have made without this process knowing them. Returns false if there are
     * none or it is too early.
     */
    async disownLost(): Promise<boolean> {
      // A claim in progress may still return a batch that is not open yet.
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
    /** Returns the messages claimed because carriers of a better priority were full, since the start. */
    overflowed: (): Readonly<Record<Lane, number>> => overflowed,
    /** Ends the epoch in good order, after giving back batches of failed claims. */
    async end(): Promise<void> {
      if (inFlight.hasLostClaims()) await disown()
      await retire()
    },
  }
}
