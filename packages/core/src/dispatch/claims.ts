import { OUTCOME } from '../messages/status-code.ts'
import type { Ports } from '../ports.ts'
import type { CarrierId } from './carrier-id.ts'
import {
  type ClaimedBatch,
  type ClaimedMessage,
  type DispatcherId,
  type Lane,
  type Settled,
  type SettledCode,
  screenAgain,
} from './claimed-batches.ts'
import { maySubmit, type Mode } from './dispatcher-mode.ts'
import { retryOf, type DispatcherSettings } from './dispatcher-settings.ts'
import type { Claim, InFlight } from './in-flight.ts'
import type { OpenBatch } from './open-batch.ts'
import type { OutcomeWriter, Postponed } from './outcome-writer.ts'
import { noRoute, type QueueNumber } from '../routes/published-routes.ts'
import { chooseQueue, type Chosen, type RouteTurns } from './route-turns.ts'

interface ClaimParts {
  readonly inFlight: InFlight
  readonly outcomes: OutcomeWriter
  readonly turns: RouteTurns
  /**
   * Returns the dispatcher's mode. A claim checks it again when the store answers, and opens no batch if the new mode
   * does not allow submitting.
   */
  readonly mode: () => Mode
  /** Called when messages have ended without being submitted to the carrier. */
  readonly ended: () => void
}

/**
 * Claims of a dispatcher, and the epoch under which it makes them.
 *
 *   no epoch --epoch--> registering --the store answers--> epoch --extend--> epoch
 *                                                            +--fence, retire, end--> no epoch
 *
 * A failed claim may nevertheless have been committed in the store. Such a claim is lost until `disownLost`, and the
 * dispatcher makes no further claim before then.
 */
export class Claims {
  readonly #claimedBatches: Ports['claimedBatches']
  readonly #clock: Ports['clock']
  readonly #carrier: CarrierId
  readonly #parts: ClaimParts
  readonly #settings: DispatcherSettings
  #current: DispatcherId | undefined
  #registering: Promise<DispatcherId> | undefined
  #isDisowning = false
  readonly #overflowed: Record<Lane, number> = { single: 0, bulk: 0 }
  /** Queue of the last claim. */
  readonly #lastQueue: Record<Lane, QueueNumber> = { single: noRoute, bulk: noRoute }

  constructor(
    { claimedBatches, clock }: Pick<Ports, 'claimedBatches' | 'clock'>,
    carrier: CarrierId,
    parts: ClaimParts,
    settings: DispatcherSettings,
  ) {
    this.#claimedBatches = claimedBatches
    this.#clock = clock
    this.#carrier = carrier
    this.#parts = parts
    this.#settings = settings
  }

  /** Messages claimed because carriers of a better priority were full, since the start. */
  get overflowed(): Readonly<Record<Lane, number>> {
    return this.#overflowed
  }

  // Epoch

  /** Returns the current epoch, or registers a new one. Concurrent callers share one registration. */
  epoch(): Promise<DispatcherId> {
    if (this.#current !== undefined) return Promise.resolve(this.#current)
    const { leaseSeconds, version, place } = this.#settings
    this.#registering ??= this.#claimedBatches
      .register(leaseSeconds, version, place)
      .then((registered) => (this.#current = registered))
      .finally(() => (this.#registering = undefined))
    return this.#registering
  }

  /** Renews the lease; 'none' if there is no lease. */
  async extend(): Promise<'alive' | 'none' | { readonly fenced: DispatcherId }> {
    const dispatcher = this.#current
    if (dispatcher === undefined) return 'none'
    const answer = await this.#claimedBatches.extend(dispatcher, this.#settings.leaseSeconds)
    return answer === 'fenced' ? { fenced: dispatcher } : answer
  }

  /** Drops an epoch that was declared dead, because other dispatchers have taken over its messages. */
  fence(dispatcher: DispatcherId): void {
    this.#lose(dispatcher)
    this.#parts.inFlight.fence(dispatcher)
  }

  /** Ends the epoch; other dispatchers take over the messages that it still holds. */
  async retire(): Promise<void> {
    const dispatcher = this.#current
    if (dispatcher === undefined) return
    await this.#claimedBatches.retire(dispatcher)
    this.#lose(dispatcher)
  }

  /** Ends the epoch in good order, after giving back batches of failed claims. */
  async end(): Promise<void> {
    if (this.#parts.inFlight.hasLostClaims()) await this.#disown()
    await this.retire()
  }

  /**
   * Gives back batches that failed claims may have made without this process knowing them. Returns false if there are
   * no such claims or another claim is still in progress.
   */
  async disownLost(): Promise<boolean> {
    const { inFlight } = this.#parts
    // A claim in progress may still return a batch that is not open yet.
    if (this.#isDisowning || this.#current === undefined || inFlight.isClaiming() || !inFlight.hasLostClaims())
      return false
    this.#isDisowning = true
    try {
      await this.#disown()
    } finally {
      this.#isDisowning = false
    }
    return true
  }

  /** Gives back all batches of the epoch except the open ones. */
  async #disown(): Promise<void> {
    const dispatcher = this.#current
    if (dispatcher === undefined) return
    const known = this.#parts.inFlight.batches().map(({ id }) => id)
    await this.#claimedBatches.disown(dispatcher, known)
    if (this.#current === dispatcher) this.#parts.inFlight.forgetLostClaims()
  }

  #lose(dispatcher: DispatcherId): void {
    if (this.#current !== dispatcher) return
    this.#current = undefined
    this.#parts.inFlight.forgetLostClaims()
  }

  // Claims

  /**
   * Claims once from the queue whose turn it is, if any, and opens the claimed batch. Rejects if the store fails.
   * Messages that the failed claim may have marked then count as in doubt, and no further claim should be made until
   * `disownLost`.
   */
  async claim(
    lane: Lane,
    messagesMax: number,
    markedMax: number,
    isProbe = false,
  ): Promise<'claimed' | 'nothing' | 'turn-of-another'> {
    const { inFlight, mode, turns } = this.#parts
    const claiming = inFlight.startClaim(lane, Math.min(markedMax, messagesMax))
    try {
      const dispatcher = await this.epoch()
      if (mode() !== 'working') return 'nothing'
      const request = { carrier: this.#carrier, lane, messagesMax, after: this.#lastQueue[lane], isProbe }
      const chosen = await chooseQueue(turns, this.#claimedBatches, request)
      if (chosen === 'nothing') inFlight.foundNothing(lane)
      if (typeof chosen === 'string') return chosen
      this.#lastQueue[lane] = chosen.queue
      const batch = await this.#claimFrom(dispatcher, claiming, chosen, isProbe)
      // A dispatcher that ended during the claim has given its messages back, or others have taken them over.
      if (typeof batch === 'string' || !maySubmit(mode()) || this.#current !== dispatcher) return 'nothing'
      // End the claim before the batch is opened, so that its marks are not counted both as marks of the claim and of
      // the batch.
      inFlight.endClaim(claiming)
      if (chosen.overflowSeconds !== undefined) this.#overflowed[lane] += batch.messages.length
      const opened = this.#open(lane, dispatcher, batch, chosen.queue)
      if (isProbe) this.#giveBackRest(opened)
      return 'claimed'
    } finally {
      inFlight.endClaim(claiming)
    }
  }

  /** Claims from the chosen queue, and reports the number of claimed messages to the `turn` of the queue. */
  async #claimFrom(
    dispatcher: DispatcherId,
    claiming: Claim,
    { queue, turn, overflowSeconds }: Chosen,
    isProbe: boolean,
  ): Promise<ClaimedBatch | 'nothing' | 'fenced'> {
    const { inFlight } = this.#parts
    const { leaseSeconds } = this.#settings
    const request = {
      ...{ carrier: this.#carrier, lane: claiming.lane, queue, leaseSeconds, overflowSeconds },
      messagesMax: turn.messagesMax,
      markedMax: Math.min(claiming.markedMax, turn.messagesMax),
    }
    const claimBatch = async () => {
      // Prefer a message that was never refused, because another refusal of the same message proves nothing about the
      // carrier.
      const fresh = isProbe ? await this.#claimedBatches.claim(dispatcher, { ...request, fresh: true }) : 'nothing'
      return fresh === 'nothing' ? this.#claimedBatches.claim(dispatcher, request) : fresh
    }
    const batch = await claimBatch().catch((problem: unknown) => {
      // If the epoch was declared dead meanwhile, there is nothing left to give back.
      if (this.#current === dispatcher) inFlight.loseClaim(claiming)
      turn.done(0)
      throw problem
    })
    turn.done(typeof batch === 'string' ? 0 : batch.messages.length)
    if (batch === 'fenced') this.fence(dispatcher)
    if (typeof batch === 'string') inFlight.foundNothing(claiming.lane)
    return batch
  }

  /**
   * Opens a claimed batch and screens its messages once more. Messages that have expired or may no longer be sent end
   * without being submitted (ruling 1.13). If this carrier may not submit a message because of its sender, the message
   * goes to a carrier that may, or is refused if the route has none.
   */
  #open(lane: Lane, dispatcher: DispatcherId, batch: ClaimedBatch, queue: QueueNumber): OpenBatch {
    const { inFlight, outcomes, ended } = this.#parts
    const settled: Settled[] = []
    const moved: Postponed[] = []
    for (const message of batch.messages) {
      // Use the store's clock, because a process with a wrong clock would expire waiting messages (P-18).
      const code = screenAgain(message, batch.at, this.#settings.validitySeconds)
      const other = code ?? this.#otherOver(message, queue)
      if (typeof other === 'number') settled.push({ id: message.id, code: other })
      else if (other !== undefined) moved.push(other)
    }
    const skipped = new Set([...settled.map(({ id }) => id), ...moved.map(({ message }) => message.id)])
    const opened = inFlight.open(lane, dispatcher, batch, skipped, queue, this.#clock.now() - batch.at)
    if (skipped.size > 0) {
      outcomes.settle(opened, settled, moved)
      ended()
    }
    return opened
  }

  /**
   * Gives back all messages of a claimed send except the probe, because other accounts wait while the probe may take
   * long or be refused.
   */
  #giveBackRest(batch: OpenBatch): void {
    const { inFlight, outcomes, ended } = this.#parts
    const ids = inFlight.cut(batch)
    if (ids.length === 0) return
    outcomes.giveBack(batch, ids)
    ended()
  }

  /**
   * If this carrier may not submit the message because of its sender, returns how to hand it to another carrier, or the
   * code of a refusal if there is none. Returns undefined if this carrier may submit it.
   */
  #otherOver(message: ClaimedMessage, from: QueueNumber): Postponed | SettledCode | undefined {
    if (message.onlyOver === undefined) return undefined
    const other = this.#parts.turns.toOneOf(from, message.onlyOver)
    return other === undefined ? OUTCOME.refused : { message, ...retryOf(this.#settings, message, other) }
  }
}
