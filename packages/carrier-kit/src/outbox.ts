import type { Submission } from '@gateway/core/dispatch'
import type { CarrierPrice } from '@gateway/core/messages'
import { Answers } from './answers.ts'
import type { CircuitBreaker, CircuitOutcome } from './circuit-breaker.ts'
import {
  isRefused,
  isUntaken,
  isWorthAnotherTry,
  outgoingMessage,
  prepare,
  prepareMissing,
  secondsLeft,
  WaitingMessages,
  type Answered,
  type OutgoingMessage,
  type PartOutcome,
  type Patience,
} from './outgoing-message.ts'
import type { Pace } from './pace.ts'

/** Connection or pool of connections over which requests are sent, such as a session of SMPP or a `RequestWindow`. */
export interface Channel {
  /** Returns the number of requests that may be sent now. */
  room(): number
}

/**
 * Result of one request to the carrier.
 *
 * - accepted: the carrier has the part; receipts name it by `reference`, and by `furtherReferences` if the carrier has
 *   split it. Without a reference no receipt can match the message. `isPartial`: the carrier has refused some of the
 *   pieces for good. `price`: what the carrier charges for the part.
 * - refused: the carrier will never accept the part. `optOut`: because the recipient has opted out there.
 * - refused-for-now: the carrier did not accept the part and may do so later; also if it cannot be reached.
 * - throttled: the carrier gets too many requests. The part is sent again, not before `retryAfterSeconds`.
 * - account-broken: the carrier refused because of our account (wrong key, no credit). The message stays queued, and
 *   the circuit opens with the reason.
 * - resend: the carrier certainly does not have the part, and another channel may be better. It is sent again at once.
 * - unsent: the request was not sent, and nothing is known about the carrier. It is sent again at once.
 * - unknown: nobody knows whether the carrier has the part (P-5). `hasAnswered`: an answer came, but it says nothing.
 *   `isRepeatable`: the carrier recognizes a repetition by its key, so that the part is sent again for `partsSeconds`.
 */
export type RequestResult =
  | {
      readonly is: 'accepted'
      readonly reference: string | undefined
      readonly furtherReferences?: readonly string[]
      readonly isPartial?: true
      readonly price?: CarrierPrice
    }
  | { readonly is: 'refused'; readonly reason: string; readonly optOut?: true }
  | { readonly is: 'refused-for-now' | 'account-broken' | 'resend'; readonly reason: string }
  | { readonly is: 'throttled'; readonly reason: string; readonly retryAfterSeconds?: number | undefined }
  | { readonly is: 'unsent' }
  | { readonly is: 'unknown'; readonly hasAnswered: boolean; readonly isRepeatable?: boolean }

/** One part of a message to send. */
export interface PartRequest<Segment> {
  readonly message: Submission
  readonly segment: Segment
  /** Seconds for which the carrier may still try to deliver. If undefined, the carrier's settings decide. */
  readonly validSeconds: number | undefined
}

/** Network of a carrier, with the methods that its outbox and its status need. */
export interface Transport<Segment, Over extends Channel> {
  /** Returns the channels that are connected. */
  channels(): readonly Over[]
  /** Returns the parts of a message, at least one. Throws an Error if the text cannot be sent to this carrier. */
  partsOf(message: Submission): readonly Segment[]
  /**
   * Sends one part. `settle` is called exactly once, in bounded time, never before this method has returned. If the
   * part cannot be expressed in a request, returns the reason and does not call `settle`.
   */
  send(
    over: Over,
    request: PartRequest<Segment>,
    settle: (result: RequestResult) => void,
  ): 'sent' | { readonly invalid: string }
  /** Returns true if requests can be sent, as far as the connections show. True for a carrier without connections. */
  isConnected(): boolean
  /** Returns true if answers recently took long. */
  isSlow(now: number): boolean
}

export interface OutboxSettings extends Patience {
  /** Seconds without any answer after which the carrier counts as silent (`CircuitBounds`). */
  readonly silentSeconds: number
}

export interface OutboxLimits {
  readonly pace: Pace
  readonly circuit: CircuitBreaker
}

const tickMilliseconds = 100
const nowMilliseconds = (): number => performance.now()

/**
 * Submitted messages until they are answered: sends their parts as channels, pace and circuit allow, and joins the
 * results of the parts. Each submission is answered exactly once.
 *
 *   submit --> waiting --channel, pace and circuit have room--> under way --results of all sent parts--> answered
 *                 ^ |                                              |  |
 *                 | +--handBack, expired, held too long--> answered|  +--missing parts are worth another try--+
 *                 +-----------------------------------------------------------------------------------------+
 *   open --shut--> shut: waiting and later messages are temporarily refused --abandon--> nothing more is sent
 *
 * The parts of a message are sent one after another over one channel, even if its window is full in between.
 */
export class Outbox<Segment, Over extends Channel> {
  readonly #settings: OutboxSettings
  readonly #transport: Transport<Segment, Over>
  readonly #pace: Pace
  readonly #circuit: CircuitBreaker
  readonly #refused: (reason: string) => void
  readonly #waiting = new WaitingMessages<Segment>()
  readonly #answers = new Answers()
  /** For each channel, the message whose parts are being sent over it. */
  readonly #sending = new Map<Over, OutgoingMessage<Segment>>()
  /** Time when a part was last sent. */
  #movedAt = nowMilliseconds()
  #isShut = false
  #isPaced = false
  #timer: NodeJS.Timeout | undefined
  #isPumpDue = false

  /** `refused` is called with the reason why the carrier, or the encoding, refused a part. */
  constructor(
    settings: OutboxSettings,
    transport: Transport<Segment, Over>,
    { pace, circuit }: OutboxLimits,
    refused: (reason: string) => void,
  ) {
    this.#settings = settings
    this.#transport = transport
    this.#pace = pace
    this.#circuit = circuit
    this.#refused = refused
  }

  /** Number of messages with parts that wait for a channel, the pace or the circuit. */
  get waiting(): number {
    return this.#waiting.size
  }

  submit(messages: readonly Submission[], answered: Answered): void {
    const since = nowMilliseconds()
    if (this.#answers.unanswered === 0) this.#movedAt = since
    this.#answers.expect(messages.length)
    for (const message of messages) this.#add(message, answered, since)
    this.pump()
  }

  /** Sends the parts that may be sent now. */
  pump(): void {
    const now = nowMilliseconds()
    this.#isPaced = false
    const channels = this.#transport.channels()
    for (const channel of this.#sending.keys())
      if (channel.room() === 0 && !channels.includes(channel)) this.#release(channel)
    while (this.#waiting.size + this.#sending.size > 0) {
      // A closed circuit never stops messages that were handed over, even to a new carrier.
      if (this.#circuit.state !== 'closed' && this.#circuit.room() === 0) break
      const channel = this.#nextChannel()
      if (channel === undefined || !(this.#sending.has(channel) || this.#waiting.hasReady(now))) break
      this.#isPaced = this.#pace.take(1, now) === 0
      if (this.#isPaced) break
      const outgoing = this.#nextFor(channel, now)
      if (outgoing === undefined) break
      this.#sendNext(channel, outgoing, now)
    }
    this.#plan(now)
  }

  /** Reports the answers received so far. */
  giveAnswers(): void {
    this.#answers.give()
  }

  /**
   * Temporarily refuses unsent messages, except the first `keep` of them. Messages of which a part was sent continue.
   */
  handBack(keep = 0): void {
    const unsent = this.#waiting.again.filter(({ takenSince }) => takenSince === undefined)
    const newToKeep = Math.max(0, keep - unsent.length)
    for (const outgoing of [...unsent.slice(keep), ...this.#waiting.takeNew(newToKeep)]) this.#giveUp(outgoing)
  }

  /** Temporarily refuses all unsent messages, also those submitted later. */
  shut(): void {
    this.#isShut = true
    this.handBack()
  }

  /** Stops sending parts of any message. */
  abandon(): void {
    for (const outgoing of [...this.#waiting.again, ...this.#sending.values()]) this.#giveUp(outgoing)
  }

  /** Resolves when all messages are answered. */
  quiet(): Promise<void> {
    return this.#answers.quiet()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  // Messages that wait

  #add(message: Submission, answered: Answered, since: number): void {
    const outgoing = outgoingMessage<Segment>(message, answered, since)
    try {
      if (!this.#isShut) prepare(outgoing, this.#transport.partsOf(message))
    } catch (problem) {
      this.#refused(`a text cannot be encoded: ${(problem as Error).message}`)
      outgoing.outcomes.push('refused')
    }
    if (outgoing.parts.length === 0) this.#answers.finish(outgoing)
    else this.#waiting.add(outgoing)
  }

  #roomiest(): Over | undefined {
    let [best, most]: [Over | undefined, number] = [undefined, 0]
    for (const channel of this.#transport.channels()) {
      const room = channel.room()
      if (room > most) [best, most] = [channel, room]
    }
    return best
  }

  #nextChannel(): Over | undefined {
    if (this.#sending.size > 0) for (const channel of this.#sending.keys()) if (channel.room() > 0) return channel
    return this.#roomiest()
  }

  /** Returns the message whose parts a channel is sending or, if there is none, the next waiting message. */
  #nextFor(channel: Over, now: number): OutgoingMessage<Segment> | undefined {
    const current = this.#sending.get(channel)
    if (current !== undefined) return current
    const outgoing = this.#waiting.take(now)
    if (outgoing !== undefined && outgoing.toSend.length > 1) this.#sending.set(channel, outgoing)
    return outgoing
  }

  /** Releases the message of an ended channel, so that its unsent parts are sent over another. */
  #release(channel: Over): void {
    const outgoing = this.#sending.get(channel)
    this.#sending.delete(channel)
    if (outgoing !== undefined && outgoing.toSend.length > 0) this.#waiting.addAgain(outgoing)
  }

  /** Schedules one call of `pump` for all results that arrive in this turn of the event loop. */
  #pumpSoon(): void {
    if (this.#isPumpDue) return
    this.#isPumpDue = true
    queueMicrotask(() => {
      this.#isPumpDue = false
      this.pump()
    })
  }

  #plan(now: number): void {
    if (this.#timer !== undefined || this.#answers.unanswered === 0) return
    const paced = Math.max(2, this.#pace.nextAt(now) - now)
    const wait = this.#isPaced ? Math.min(tickMilliseconds, paced) : tickMilliseconds
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#circuit.look(nowMilliseconds())
      this.#expire(nowMilliseconds())
      this.pump()
    }, wait)
  }

  // Parts

  #sendNext(channel: Over, outgoing: OutgoingMessage<Segment>, now: number): void {
    const validSeconds = secondsLeft(outgoing, now)
    // A message that expired while it waited here returns to the queue, and the queue ends it.
    if (validSeconds !== undefined && validSeconds <= 0 && isUntaken(outgoing)) {
      this.#giveUp(outgoing)
      return
    }
    const part = outgoing.toSend.shift()
    if (outgoing.toSend.length === 0) this.#sending.delete(channel)
    const segment = part === undefined ? undefined : outgoing.parts[part]
    if (part === undefined || segment === undefined) return
    const { message } = outgoing
    this.#movedAt = now
    outgoing.underWay++
    const departure = this.#circuit.submitted(now)
    const settle = (result: RequestResult): void => {
      const at = nowMilliseconds()
      const detail = result.is === 'account-broken' ? result.reason : undefined
      this.#circuit.settled(departure, this.#circuitOutcome(outgoing, result, at - now), at, detail)
      this.#decide(outgoing, part, this.#partOutcome(outgoing, part, result, at), at)
      this.#pumpSoon()
    }
    const sent = this.#transport.send(channel, { message, segment, validSeconds }, settle)
    if (sent === 'sent') return
    this.#circuit.settled(departure, 'unsent', now)
    this.#refused(sent.invalid)
    this.#decide(outgoing, part, 'refused', now)
  }

  #partOutcome(outgoing: OutgoingMessage<Segment>, part: number, result: RequestResult, now: number): PartOutcome {
    if (result.is === 'unsent') return 'retry'
    if (result.is === 'unknown') {
      if (result.isRepeatable !== true) return 'unknown'
      this.#delay(outgoing, now)
      return 'repeat'
    }
    if (result.is === 'accepted') {
      this.#pace.accepted(now)
      const { is: _is, reference = `none-${outgoing.message.id}-${part + 1}`, ...rest } = result
      return { reference, ...rest }
    }
    this.#refused(result.reason)
    if (result.is === 'refused') return result.optOut === true ? 'opted-out' : 'refused'
    outgoing.notBefore = now
    if (result.is === 'throttled') this.#pace.throttled(now, (result.retryAfterSeconds ?? 0) * 1000)
    else if (result.is !== 'resend') this.#delay(outgoing, now)
    return 'retry'
  }

  /** Delays the next try of a message; the delay doubles with each one. */
  #delay(outgoing: OutgoingMessage<Segment>, now: number): void {
    outgoing.notBefore = now + Math.min(500 * 2 ** outgoing.tries++, 8000)
  }

  /**
   * Classifies a result for the circuit breaker. A request that ends with its connection before its answer was due
   * counts as unsent, because a carrier that was cut off for a moment answers at once when it is back (P-17). Refusals
   * of several parts of a message, or of its further attempts, count as one refusal.
   */
  #circuitOutcome(
    { message, tries }: OutgoingMessage<Segment>,
    result: RequestResult,
    elapsed: number,
  ): CircuitOutcome {
    switch (result.is) {
      case 'unsent':
        return 'unsent'
      case 'unknown':
        return result.hasAnswered || elapsed >= this.#settings.silentSeconds * 1000 ? 'unanswered' : 'unsent'
      case 'accepted':
      case 'refused':
        return 'taken'
      case 'throttled':
      case 'account-broken':
        return result.is
      case 'resend':
        return 'refused-for-now'
      case 'refused-for-now':
        return message.refusedBefore === true || tries > 0 ? 'refused-again' : 'refused-for-now'
    }
  }

  #decide(outgoing: OutgoingMessage<Segment>, part: number, outcome: PartOutcome, now: number): void {
    outgoing.underWay--
    // A repetition that was temporarily refused does not show that the carrier has not accepted an earlier attempt.
    if (outcome !== 'retry' || outgoing.outcomes[part] !== 'repeat') outgoing.outcomes[part] = outcome
    if (!isRefused(outcome) && outcome !== 'retry') outgoing.takenSince ??= now
    if (isRefused(outcome)) this.#withdraw(outgoing)
    if (outgoing.underWay > 0 || this.#isSending(outgoing)) return
    if (isWorthAnotherTry(outgoing, this.#settings, this.#isShut, now)) {
      prepareMissing(outgoing)
      this.#waiting.addAgain(outgoing)
    } else this.#answers.finish(outgoing)
  }

  #isSending(outgoing: OutgoingMessage<Segment>): boolean {
    const isQueued = (): boolean => this.#waiting.hasAgain(outgoing) || [...this.#sending.values()].includes(outgoing)
    return outgoing.toSend.length > 0 && isQueued()
  }

  /** Stops sending parts of a message. */
  #withdraw(outgoing: OutgoingMessage<Segment>): void {
    outgoing.toSend = []
    this.#waiting.removeAgain(outgoing)
    for (const [channel, other] of this.#sending) if (other === outgoing) this.#sending.delete(channel)
  }

  /** Gives up messages that waited too long. Those without a sent part are given up only while nothing is sent. */
  #expire(now: number): void {
    const { holdSeconds, partsSeconds } = this.#settings
    const heldSince = now - holdSeconds * 1000
    for (const outgoing of [...this.#waiting.again]) {
      const { takenSince, since } = outgoing
      const isOver =
        takenSince === undefined
          ? this.#movedAt <= heldSince && since <= heldSince
          : now - takenSince >= partsSeconds * 1000
      if (isOver) this.#giveUp(outgoing)
    }
    while (this.#movedAt <= heldSince) {
      const outgoing = this.#waiting.takeOlder(heldSince)
      if (outgoing === undefined) return
      this.#giveUp(outgoing)
    }
  }

  #giveUp(outgoing: OutgoingMessage<Segment>): void {
    this.#withdraw(outgoing)
    if (outgoing.underWay === 0) this.#answers.finish(outgoing)
  }
}
