import type { Submission, SubmissionAnswer } from '@gateway/core/dispatch'
import type { CarrierPrice } from '@gateway/core/messages'

/**
 * Outcome of one part. `retry`: the carrier certainly did not get the part, or temporarily refused it. `repeat`: nobody
 * knows whether the carrier has the part, but it may be sent again under the same key. `opted-out`: refused, because
 * the recipient has opted out at the carrier. `isPartial`: the carrier has split the part, and has refused some of the
 * pieces for good.
 */
export type PartOutcome = AcceptedPart | 'refused' | 'opted-out' | 'retry' | 'repeat' | 'unknown'

/** Part that the carrier has. */
interface AcceptedPart {
  readonly reference: string
  readonly furtherReferences?: readonly string[]
  readonly isPartial?: true
  readonly price?: CarrierPrice
}

/** Outcome of a message, once none of its parts is unanswered. */
export type MessageOutcome =
  | { readonly accepted: readonly string[]; readonly price?: CarrierPrice }
  /** The carrier has some of the parts and will not get the others, so nobody can read the message. */
  | { readonly partly: readonly string[]; readonly price?: CarrierPrice }
  | 'refused'
  | 'opted-out'
  | 'refused-for-now'
  | 'unknown'

type Part = PartOutcome | undefined

const isAccepted = (outcome: Part): outcome is AcceptedPart => typeof outcome === 'object'
export const isRefused = (outcome: Part): boolean => outcome === 'refused' || outcome === 'opted-out'
const isUnknown = (outcome: Part): boolean => outcome === 'unknown' || outcome === 'repeat'
const referencesOf = ({ reference, furtherReferences = [] }: AcceptedPart): readonly string[] =>
  furtherReferences.length === 0 ? [reference] : [reference, ...furtherReferences]

/**
 * Returns the outcome of a message. The message is submitted again as a whole only if the carrier certainly has none of
 * its parts (P-5), and stays charged if the carrier has one (ruling 1.4). An undefined part was not sent, or is to be
 * sent again.
 */
export function messageOutcome(parts: readonly Part[]): MessageOutcome {
  const only = parts.length === 1 ? parts[0] : undefined
  const price = isAccepted(only) && only.price !== undefined ? { price: only.price } : {}
  if (isAccepted(only) && only.isPartial !== true) return { accepted: referencesOf(only), ...price }
  const accepted = parts.filter(isAccepted)
  const references = accepted.flatMap(referencesOf)
  const isWhole = accepted.length === parts.length && accepted.every(({ isPartial }) => isPartial !== true)
  if (isWhole) return { accepted: references }
  if (parts.some(isUnknown)) return 'unknown'
  if (references.length > 0) return { partly: references, ...price }
  if (parts.includes('opted-out')) return 'opted-out'
  return parts.includes('refused') ? 'refused' : 'refused-for-now'
}

/** Returns true if missing parts should be sent again: the carrier may have others, and has refused none for good. */
export const isWorthCompleting = (parts: readonly Part[]): boolean =>
  !parts.some(isRefused) && parts.some((part) => isAccepted(part) || isUnknown(part))

/** Callback for the answers of a submission. */
export type Answered = (answers: readonly SubmissionAnswer[]) => void

/**
 * Message that the carrier has not answered as a whole, with its parts. Times are milliseconds of one clock that does
 * not go back. A carrier that splits no texts has one part for each message.
 */
export interface OutgoingMessage<Segment> {
  readonly message: Submission
  readonly answered: Answered
  /** Time of the submission. */
  readonly since: number
  parts: readonly Segment[]
  readonly outcomes: Part[]
  /** Positions of the parts that are still to be sent, the next one first. */
  toSend: number[]
  /** Number of parts that were sent and are not answered. */
  underWay: number
  /** Number of temporary refusals, and of requests that are to be repeated. */
  tries: number
  /** Earliest time to send a part. */
  notBefore: number
  /** Time since which the carrier has, or may have, a part. */
  takenSince: number | undefined
}

export const outgoingMessage = <Segment>(
  message: Submission,
  answered: Answered,
  since: number,
): OutgoingMessage<Segment> => ({
  message,
  answered,
  since,
  parts: [],
  outcomes: [],
  toSend: [],
  underWay: 0,
  tries: 0,
  notBefore: 0,
  takenSince: undefined,
})

type AnyMessage = OutgoingMessage<unknown>

/** Returns the remaining validity of a message in seconds, or undefined if it has none of its own. */
export const secondsLeft = ({ message: { validSeconds }, since }: AnyMessage, now: number): number | undefined =>
  validSeconds === undefined ? undefined : validSeconds - (now - since) / 1000

/** Returns true if the carrier certainly has no part of the message. */
export const isUntaken = ({ takenSince, underWay }: AnyMessage): boolean => takenSince === undefined && underWay === 0

/** Schedules all parts. */
export function prepare<Segment>(outgoing: OutgoingMessage<Segment>, parts: readonly Segment[]): void {
  outgoing.parts = parts
  for (let at = 0; at < parts.length; at++) {
    outgoing.toSend.push(at)
    outgoing.outcomes.push(undefined)
  }
}

const isMissing = (outcome: Part): boolean => outcome === 'retry' || outcome === 'repeat' || outcome === undefined

/** Schedules the parts again that the carrier certainly did not get, or that may be repeated. */
export function prepareMissing(outgoing: AnyMessage): void {
  outgoing.toSend = [...outgoing.outcomes.keys()].filter((at) => isMissing(outgoing.outcomes[at]))
}

/** How long a carrier tries to send a message before it answers the submission. */
export interface Patience {
  /** Seconds for which missing parts are sent again if the carrier has, or may have, a part. */
  readonly partsSeconds: number
  /** Seconds for which a message is sent again if the carrier has no part of it. */
  readonly holdSeconds: number
}

/**
 * Returns true if missing parts should be sent again. If `isShut`, this is only the case if the carrier has, or may
 * have, another part of the message.
 */
export function isWorthAnotherTry(
  outgoing: AnyMessage,
  { partsSeconds, holdSeconds }: Patience,
  isShut: boolean,
  now: number,
): boolean {
  const { outcomes, takenSince = now, since, tries } = outgoing
  if (outcomes.some(isRefused) || !outcomes.some(isMissing)) return false
  if (isWorthCompleting(outcomes)) return now - takenSince < partsSeconds * 1000
  return !isShut && tries === 0 && now - since < holdSeconds * 1000
}

/**
 * Messages with parts to send: new messages in their order, and messages that are sent again, which precede new ones.
 */
export class WaitingMessages<Segment> {
  #queue: OutgoingMessage<Segment>[] = []
  /** Position of the first message in `#queue`. */
  #head = 0
  #again: OutgoingMessage<Segment>[] = []

  get size(): number {
    return this.#queue.length - this.#head + this.#again.length
  }

  /** Messages that are sent again. */
  get again(): readonly OutgoingMessage<Segment>[] {
    return this.#again
  }

  add(outgoing: OutgoingMessage<Segment>): void {
    this.#queue.push(outgoing)
  }

  addAgain(outgoing: OutgoingMessage<Segment>): void {
    this.#again.push(outgoing)
  }

  removeAgain(outgoing: OutgoingMessage<Segment>): void {
    this.#again = this.#again.filter((other) => other !== outgoing)
  }

  hasAgain(outgoing: OutgoingMessage<Segment>): boolean {
    return this.#again.includes(outgoing)
  }

  hasReady(now: number): boolean {
    return this.#queue.length > this.#head || this.#again.some(({ notBefore }) => notBefore <= now)
  }

  /** Takes the next message that may be sent now. */
  take(now: number): OutgoingMessage<Segment> | undefined {
    const at = this.#again.length === 0 ? -1 : this.#again.findIndex(({ notBefore }) => notBefore <= now)
    return at >= 0 ? this.#again.splice(at, 1)[0] : this.#takeFirst()
  }

  /** Takes the first new message, if it has waited since `since` or longer. */
  takeOlder(since: number): OutgoingMessage<Segment> | undefined {
    const first = this.#queue[this.#head]
    return first === undefined || first.since > since ? undefined : this.#takeFirst()
  }

  /** Takes all new messages except the first `keep`. */
  takeNew(keep: number): readonly OutgoingMessage<Segment>[] {
    const others = this.#queue.slice(this.#head + keep)
    this.#queue = this.#queue.slice(this.#head, this.#head + keep)
    this.#head = 0
    return others
  }

  #takeFirst(): OutgoingMessage<Segment> | undefined {
    const first = this.#queue[this.#head]
    if (first === undefined) return undefined
    this.#head++
    // Cut rarely, because each cut copies the array.
    if (this.#head >= 1024 || this.#head >= this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head)
      this.#head = 0
    }
    return first
  }
}
