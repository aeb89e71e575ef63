import {
  COMMAND_STATUS,
  TLV_TAG,
  noTlvs,
  tlvValue,
  type DataSm,
  type Pdu,
  type SubmitMulti,
  type SubmitSm,
} from '@gateway/smpp'
import type { Deliveries } from './deliveries.ts'
import type { Link } from './link.ts'
import { formatId, type MessageStore, type StoredMessage } from './message-store.ts'
import {
  outcomeOf,
  refusedForNow,
  quietReplies,
  refusals,
  type Outcome,
  type ReceiptState,
  type Refusals,
} from './outcomes.ts'
import type { Personality } from './personalities.ts'
import { emptyDelivery, receipt } from './receipts.ts'
import { isDestination, timeError } from './submission-errors.ts'

type Destination = Pick<SubmitSm, 'destAddrTon' | 'destAddrNpi' | 'destinationAddr'>

interface Context {
  readonly personality: () => Personality
  readonly store: MessageStore
  readonly deliveries: Deliveries
  readonly now: () => number
  /**
   * Runs `call` after `milliseconds`, or at the end of this turn of the event loop if 0. Does nothing once the server
   * has closed.
   */
  readonly after: (milliseconds: number, call: () => void) => void
}

/** Maximum time for which a response waits for the receipt that is sent before it. */
const receiptFirstMilliseconds = 1000

/** Counters of a link. */
interface LinkState {
  unanswered: number
  /** Number of unanswered submissions whose responses are sent at the end of this turn. */
  answering: number
  answers: number
  submits: number
  nextAnswerAt: number
  /** Current second of the clock. `acceptedInSecond` counts the submissions accepted in it. */
  second: number
  acceptedInSecond: number
}

/** Answers submissions, and sends their receipts and replies. */
export class Submissions {
  readonly #personality: Context['personality']
  readonly #store: MessageStore
  readonly #deliveries: Deliveries
  readonly #now: Context['now']
  readonly #after: Context['after']
  readonly #states = new WeakMap<Link, LinkState>()
  readonly #refused: Refusals = refusals()
  readonly #quiet = quietReplies()
  #windowMax = 0
  /** Number of responses with a wrong length, over all links. */
  #wrongLengths = 0
  /** Earliest time of the next receipt, if the personality limits their rate. */
  #nextReceiptAt = 0

  constructor({ personality, store, deliveries, now, after }: Context) {
    this.#personality = personality
    this.#store = store
    this.#deliveries = deliveries
    this.#now = now
    this.#after = after
  }

  submit(link: Link, pdu: SubmitSm | DataSm): void {
    const state = this.#begin(link)
    if (this.#personality().ignoresSubmissions) return
    const respond = (status: number, messageId = ''): void => this.#answer(link, state, respTo(pdu, status, messageId))
    const outcome = outcomeOf(pdu.destinationAddr)
    const refusal = this.#refusalOf(pdu, outcome, state)
    if (refusal !== undefined) {
      respond(refusal)
      return
    }
    const message = this.#keepMessage(link, pdu, pdu, outcome)
    const id = formatId(message.number, this.#personality().idForm)
    const closes = isNth(++state.submits, this.#personality().closesBeforeAnswer)
    if (closes) link.end()
    if (closes || outcome.answer === 'none') this.report(message, this.#personality().receiptDelay)
    else this.#accept(message, outcome, () => respond(0, id))
  }

  submitMulti(link: Link, pdu: SubmitMulti): void {
    const state = this.#begin(link)
    if (this.#personality().ignoresSubmissions) return
    const numbers = pdu.destinations.flatMap((each) => ('destinationAddr' in each ? [each] : []))
    const isRefused = ({ destinationAddr }: { destinationAddr: string }) =>
      !isDestination(destinationAddr) || isRefusal(outcomeOf(destinationAddr).answer)
    const wrongTime = timeError(pdu)
    const accepted = wrongTime === undefined ? numbers.filter((each) => !isRefused(each)) : []
    const messages: StoredMessage[] = []
    // All accepted messages share one message_id. The number in a receipt shows which message it belongs to.
    for (const each of accepted) {
      messages.push(this.#keepMessage(link, pdu, each, outcomeOf(each.destinationAddr), messages[0]?.number))
    }
    const number = messages[0]?.number
    const status = wrongTime ?? (number === undefined ? COMMAND_STATUS.ESME_RSUBMITFAIL : 0)
    this.#answer(link, state, {
      ...{ command: 'submit_multi_resp', status, sequence: pdu.sequence, tlvs: noTlvs },
      messageId: number === undefined ? '' : formatId(number, this.#personality().idForm),
      unsuccessSmes: numbers
        .filter(isRefused)
        .map((each) => ({ ...each, errorStatusCode: COMMAND_STATUS.ESME_RINVDSTADR })),
    })
    for (const message of messages) this.report(message, this.#personality().receiptDelay)
  }

  /** Sends the outstanding receipts and reply of a message, after a delay in milliseconds. */
  report(message: StoredMessage, delay: number): void {
    if (!isOwed(message)) return
    const { shuffle, receiptsPerSecond } = this.#personality()
    const least = delay + Math.random() * shuffle
    if (receiptsPerSecond > 0)
      this.#nextReceiptAt = Math.max(this.#now() + least, this.#nextReceiptAt + 1000 / receiptsPerSecond)
    this.#after(receiptsPerSecond > 0 ? this.#nextReceiptAt - this.#now() : least, () => this.#sendNext(message))
  }

  /** Returns the number of unanswered submissions of a link. */
  unanswered(link: Link): number {
    return this.#states.get(link)?.unanswered ?? 0
  }

  /** Returns the largest number of unanswered submissions that a link has had. */
  windowMax(): number {
    return this.#windowMax
  }

  #stateOf(link: Link): LinkState {
    const known = this.#states.get(link)
    if (known !== undefined) return known
    const state = {
      unanswered: 0,
      answering: 0,
      answers: 0,
      submits: 0,
      nextAnswerAt: 0,
      second: 0,
      acceptedInSecond: 0,
    }
    this.#states.set(link, state)
    return state
  }

  /** Counts a submission. Returns true if it is within the rate of the personality. */
  #isWithinRate(state: LinkState): boolean {
    const { submitsPerSecond } = this.#personality()
    if (submitsPerSecond === 0) return true
    const second = Math.floor(this.#now() / 1000)
    if (second !== state.second) Object.assign(state, { second, acceptedInSecond: 0 })
    return ++state.acceptedInSecond <= submitsPerSecond
  }

  #begin(link: Link): LinkState {
    const state = this.#stateOf(link)
    this.#windowMax = Math.max(this.#windowMax, ++state.unanswered)
    return state
  }

  /** Sends a response, after the delay of the personality. */
  #answer(link: Link, state: LinkState, pdu: Pdu): void {
    const { answerDelay, answersPerSecond, shuffle } = this.#personality()
    let delay = answerDelay + Math.random() * shuffle
    if (answersPerSecond > 0) {
      state.nextAnswerAt = Math.max(this.#now(), state.nextAnswerAt + 1000 / answersPerSecond)
      delay += state.nextAnswerAt - this.#now()
    }
    if (delay > 0) this.#after(delay, () => this.#sendAnswer(link, state, pdu))
    else this.#sendAnswer(link, state, pdu)
  }

  #sendAnswer(link: Link, state: LinkState, pdu: Pdu): void {
    const { wrongLengthEvery, closesAfterAnswer, isSilent } = this.#personality()
    if (isSilent) return
    state.answers++
    // The responses of one turn are sent together at its end.
    if (state.answering++ === 0) setImmediate(() => this.#countSent(state))
    if (isNth(state.answers, wrongLengthEvery)) {
      // Wrong lengths are counted over all links, because a client that closes its link after one gets the next kind on
      // its next link.
      const turn = ++this.#wrongLengths
      link.sendWithLength(pdu, (right) => wrongLength(turn, right))
    } else link.send(pdu)
    if (isNth(state.answers, closesAfterAnswer)) link.end()
  }

  #countSent(state: LinkState): void {
    state.unanswered -= state.answering
    state.answering = 0
  }

  /** Returns the command_status with which a submission is refused, if it is. */
  #refusalOf(pdu: SubmitSm | DataSm, outcome: Outcome, state: LinkState): number | undefined {
    const wrongTime = 'validityPeriod' in pdu ? timeError(pdu) : undefined
    if (wrongTime !== undefined) return wrongTime
    if (!isDestination(pdu.destinationAddr)) return COMMAND_STATUS.ESME_RINVDSTADR
    if (!this.#isWithinRate(state)) return this.#personality().refusalStatus
    if (outcome.isRefusedFirst && this.#refused.isRefused(keyOf(pdu), this.#personality().numberRefusals))
      return refusedForNow
    return isRefusal(outcome.answer) ? outcome.answer : undefined
  }

  /**
   * Responds, and sends the receipts afterwards. If the personality or the outcome has `receiptFirst`, sends the first
   * receipt before the response.
   */
  #accept(message: StoredMessage, outcome: Outcome, respond: () => void): void {
    const { receiptFirst, receiptDelay } = this.#personality()
    if (message.receipts.length === 0 || !(receiptFirst || outcome.receiptFirst)) {
      respond()
      this.report(message, receiptDelay)
      return
    }
    let isAnswered = false
    const once = (): void => {
      if (!isAnswered) respond()
      isAnswered = true
    }
    this.#sendNext(message, once)
    this.#after(receiptFirstMilliseconds, once)
  }

  /** Stores an accepted message. */
  #keepMessage(
    link: Link,
    pdu: SubmitSm | DataSm | SubmitMulti,
    { destAddrTon: toTon, destAddrNpi: toNpi, destinationAddr: to }: Destination,
    outcome: Outcome,
    first?: number,
  ): StoredMessage {
    const { receiptDelay } = this.#personality()
    const receipts = requestedOf(outcome.receipts, pdu.registeredDelivery)
    const replies =
      outcome.reply !== undefined && this.#quiet.mayReply(to, pdu.sourceAddr, this.#now(), 2 * receiptDelay)
    const message: StoredMessage = {
      number: this.#store.nextNumber(),
      systemId: link.bound?.systemId ?? '',
      at: this.#now(),
      fromTon: pdu.sourceAddrTon,
      fromNpi: pdu.sourceAddrNpi,
      from: pdu.sourceAddr,
      toTon,
      toNpi,
      to,
      receipts,
      reply: replies ? outcome.reply : undefined,
      done: 0,
      state: undefined,
    }
    const stored = first === undefined ? message : { ...message, first }
    this.#store.add(stored)
    return stored
  }

  /** Sends the next receipt, or the reply. `acknowledged` is called when the client has acknowledged it. */
  #sendNext(message: StoredMessage, acknowledged?: () => void): void {
    if (!isOwed(message)) return
    const { receipts, done, systemId } = message
    const state = receipts[done]
    const form = this.#personality()
    const delivery = state === undefined ? replyTo(message) : receipt(message, state, this.#now(), form)
    let remaining = state === undefined ? form.arrivalTimes : form.receiptTimes
    if (state !== undefined) message.state ??= state
    const onDone = (): void => {
      if (--remaining > 0) return
      message.done++
      this.#store.progress(message)
      acknowledged?.()
      this.report(message, form.receiptDelay)
    }
    for (let time = remaining; time > 0; time--) this.#deliveries.deliver(systemId, delivery, onDone)
  }
}

const isRefusal = (answer: Outcome['answer']): answer is number => answer !== 'none' && answer !== 0

const isNth = (count: number, every: number): boolean => every > 0 && count % every === 0

const isOwed = ({ receipts, done, reply, state }: StoredMessage): boolean =>
  state !== 'DELETED' && done < receipts.length + (reply === undefined ? 0 : 1)

/**
 * Returns the receipts that registered_delivery requests (SMPP 3.4, 5.2.17). 1 requests all receipts, 2 only those of
 * failures.
 */
function requestedOf(receipts: readonly ReceiptState[], registeredDelivery: number): readonly ReceiptState[] {
  const requested = registeredDelivery & 3
  if (requested === 1) return receipts
  return requested === 2 ? receipts.filter((state) => state !== 'DELIVRD') : []
}

/**
 * Returns a wrong command_length. Successive turns return one that is too small, zero, huge, one octet too short, and
 * seven octets too long.
 */
const wrongLength = (turn: number, right: number): number =>
  [15, 0, 0x7fffffff, right - 1, right + 7][(turn - 1) % 5] ?? 0

const respTo = ({ command, sequence }: SubmitSm | DataSm, status: number, messageId: string): Pdu => ({
  command: command === 'submit_sm' ? 'submit_sm_resp' : 'data_sm_resp',
  status,
  sequence,
  messageId,
  tlvs: noTlvs,
})

const replyTo = ({ to, toTon, toNpi, from, fromTon, fromNpi, reply = '' }: StoredMessage) => ({
  ...emptyDelivery,
  ...{ sourceAddr: to, sourceAddrTon: toTon, sourceAddrNpi: toNpi },
  ...{ destinationAddr: from, destAddrTon: fromTon, destAddrNpi: fromNpi, shortMessage: Buffer.from(reply, 'latin1') },
})

/** Returns a key that stays the same when a message is submitted again. */
function keyOf(pdu: SubmitSm | DataSm): string {
  const payload = tlvValue(pdu.tlvs, TLV_TAG.message_payload)
  const text = 'shortMessage' in pdu && pdu.shortMessage.length > 0 ? pdu.shortMessage : payload
  return `${pdu.sourceAddr} ${pdu.destinationAddr} ${withoutReference(pdu.esmClass, text)?.toString('latin1') ?? ''}`
}

/**
 * Removes the user data header of a part except its last octet, which is the position of the part. A part that is
 * submitted again may have another reference.
 */
const withoutReference = (esmClass: number, text: Buffer | undefined): Buffer | undefined =>
  (esmClass & 0x40) === 0 ? text : text?.subarray(text[0] ?? 0)
