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

export interface Submissions {
  submit(link: Link, pdu: SubmitSm | DataSm): void
  submitMulti(link: Link, pdu: SubmitMulti): void
  /** Sends the outstanding receipts and reply of a message, after a delay in milliseconds. */
  report(message: StoredMessage, delay: number): void
  /** Returns the number of unanswered submissions of a link. */
  unanswered(link: Link): number
  /** Returns the largest number of unanswered submissions that a link has had. */
  windowMax(): number
}

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

export function submissions({ personality, store, deliveries, now, after }: Context): Submissions {
  const states = new WeakMap<Link, LinkState>()
  const refused: Refusals = refusals()
  const quiet = quietReplies()
  let windowMax = 0
  let wrongLengths = 0
  /** Earliest time of the next receipt, if the personality limits their rate. */
  let nextReceiptAt = 0

  function stateOf(link: Link): LinkState {
    const known = states.get(link)
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
    states.set(link, state)
    return state
  }

  /** Counts a submission. Returns true if it is within the rate of the personality. */
  function isWithinRate(state: LinkState): boolean {
    const { submitsPerSecond } = personality()
    if (submitsPerSecond === 0) return true
    const second = Math.floor(now() / 1000)
    if (second !== state.second) Object.assign(state, { second, acceptedInSecond: 0 })
    return ++state.acceptedInSecond <= submitsPerSecond
  }

  function begin(link: Link): LinkState {
    const state = stateOf(link)
    windowMax = Math.max(windowMax, ++state.unanswered)
    return state
  }

  /** Sends a response, after the delay of the personality. */
  function answer(link: Link, state: LinkState, pdu: Pdu): void {
    const { answerDelay, answersPerSecond, shuffle } = personality()
    let delay = answerDelay + Math.random() * shuffle
    if (answersPerSecond > 0) {
      state.nextAnswerAt = Math.max(now(), state.nextAnswerAt + 1000 / answersPerSecond)
      delay += state.nextAnswerAt - now()
    }
    if (delay > 0) after(delay, () => sendAnswer(link, state, pdu))
    else sendAnswer(link, state, pdu)
  }

  function sendAnswer(link: Link, state: LinkState, pdu: Pdu): void {
    const { wrongLengthEvery, closesAfterAnswer, isSilent } = personality()
    if (isSilent) return
    state.answers++
    // The responses of one turn are sent together at its end.
    if (state.answering++ === 0) setImmediate(() => countSent(state))
    if (isNth(state.answers, wrongLengthEvery)) {
      // Wrong lengths are counted over all links, because a client that closes its link after one gets the next kind on
      // its next link.
      const turn = ++wrongLengths
      link.sendWithLength(pdu, (right) => wrongLength(turn, right))
    } else link.send(pdu)
    if (isNth(state.answers, closesAfterAnswer)) link.end()
  }

  function countSent(state: LinkState): void {
    state.unanswered -= state.answering
    state.answering = 0
  }

  function submit(link: Link, pdu: SubmitSm | DataSm): void {
    const state = begin(link)
    if (personality().ignoresSubmissions) return
    const respond = (status: number, messageId = ''): void => answer(link, state, respTo(pdu, status, messageId))
    const outcome = outcomeOf(pdu.destinationAddr)
    const refusal = refusalOf(pdu, outcome, state)
    if (refusal !== undefined) {
      respond(refusal)
      return
    }
    const message = keepMessage(link, pdu, pdu, outcome)
    const id = formatId(message.number, personality().idForm)
    const closes = isNth(++state.submits, personality().closesBeforeAnswer)
    if (closes) link.end()
    if (closes || outcome.answer === 'none') report(message, personality().receiptDelay)
    else accept(message, outcome, () => respond(0, id))
  }

  /** Returns the command_status with which a submission is refused, if it is. */
  function refusalOf(pdu: SubmitSm | DataSm, outcome: Outcome, state: LinkState): number | undefined {
    const wrongTime = 'validityPeriod' in pdu ? timeError(pdu) : undefined
    if (wrongTime !== undefined) return wrongTime
    if (!isDestination(pdu.destinationAddr)) return COMMAND_STATUS.ESME_RINVDSTADR
    if (!isWithinRate(state)) return personality().refusalStatus
    if (outcome.isRefusedFirst && refused.isRefused(keyOf(pdu), personality().numberRefusals)) return refusedForNow
    return isRefusal(outcome.answer) ? outcome.answer : undefined
  }

  /**
   * Responds, and sends the receipts afterwards. If the personality or the outcome has `receiptFirst`, sends the first
   * receipt before the response.
   */
  function accept(message: StoredMessage, outcome: Outcome, respond: () => void): void {
    const { receiptFirst, receiptDelay } = personality()
    if (message.receipts.length === 0 || !(receiptFirst || outcome.receiptFirst)) {
      respond()
      report(message, receiptDelay)
      return
    }
    let isAnswered = false
    const once = (): void => {
      if (!isAnswered) respond()
      isAnswered = true
    }
    sendNext(message, once)
    after(receiptFirstMilliseconds, once)
  }

  /** Stores an accepted message. */
  function keepMessage(
    link: Link,
    pdu: SubmitSm | DataSm | SubmitMulti,
    { destAddrTon: toTon, destAddrNpi: toNpi, destinationAddr: to }: Destination,
    outcome: Outcome,
    first?: number,
  ): StoredMessage {
    const { receiptDelay } = personality()
    const receipts = requestedOf(outcome.receipts, pdu.registeredDelivery)
    const replies = outcome.reply !== undefined && quiet.mayReply(to, pdu.sourceAddr, now(), 2 * receiptDelay)
    const message: StoredMessage = {
      number: store.nextNumber(),
      systemId: link.bound?.systemId ?? '',
      at: now(),
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
    store.add(stored)
    return stored
  }

  function report(message: StoredMessage, delay: number): void {
    if (!isOwed(message)) return
    const { shuffle, receiptsPerSecond } = personality()
    const least = delay + Math.random() * shuffle
    if (receiptsPerSecond > 0) nextReceiptAt = Math.max(now() + least, nextReceiptAt + 1000 / receiptsPerSecond)
    after(receiptsPerSecond > 0 ? nextReceiptAt - now() : least, () => sendNext(message))
  }

  /** Sends the next receipt, or the reply. `acknowledged` is called when the client has acknowledged it. */
  function sendNext(message: StoredMessage, acknowledged?: () => void): void {
    if (!isOwed(message)) return
    const { receipts, done, systemId } = message
    const state = receipts[done]
    const form = personality()
    const delivery = state === undefined ? replyTo(message) : receipt(message, state, now(), form)
    let remaining = state === undefined ? form.arrivalTimes : form.receiptTimes
    if (state !== undefined) message.state ??= state
    const onDone = (): void => {
      if (--remaining > 0) return
      message.done++
      store.progress(message)
      acknowledged?.()
      report(message, form.receiptDelay)
    }
    for (let time = remaining; time > 0; time--) deliveries.deliver(systemId, delivery, onDone)
  }

  function submitMulti(link: Link, pdu: SubmitMulti): void {
    const state = begin(link)
    if (personality().ignoresSubmissions) return
    const numbers = pdu.destinations.flatMap((each) => ('destinationAddr' in each ? [each] : []))
    const isRefused = ({ destinationAddr }: { destinationAddr: string }) =>
      !isDestination(destinationAddr) || isRefusal(outcomeOf(destinationAddr).answer)
    const wrongTime = timeError(pdu)
    const accepted = wrongTime === undefined ? numbers.filter((each) => !isRefused(each)) : []
    const messages: StoredMessage[] = []
    // All accepted messages share one message_id. The number in a receipt shows which message it belongs to.
    for (const each of accepted) {
      messages.push(keepMessage(link, pdu, each, outcomeOf(each.destinationAddr), messages[0]?.number))
    }
    const number = messages[0]?.number
    const status = wrongTime ?? (number === undefined ? COMMAND_STATUS.ESME_RSUBMITFAIL : 0)
    answer(link, state, {
      ...{ command: 'submit_multi_resp', status, sequence: pdu.sequence, tlvs: noTlvs },
      messageId: number === undefined ? '' : formatId(number, personality().idForm),
      unsuccessSmes: numbers
        .filter(isRefused)
        .map((each) => ({ ...each, errorStatusCode: COMMAND_STATUS.ESME_RINVDSTADR })),
    })
    for (const message of messages) report(message, personality().receiptDelay)
  }

  return {
    submit,
    submitMulti,
    report,
    unanswered: (link) => states.get(link)?.unanswered ?? 0,
    windowMax: () => windowMax,
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

const absoluteTime = /^(\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d[0-5]\d\d([0-3]\d|4[0-8])[+-]$/
const relativeTime = /^\d{12}000R$/

/**
 * Returns true for an empty time or YYMMDDhhmmsstnnp (SMPP 3.4, 7.1.1): an absolute time with an offset in quarters of
 * an hour, or a relative time.
 */
const isTime = (time: string): boolean => time === '' || isDate(absoluteTime.exec(time)) || relativeTime.test(time)

/** Rejects dates that do not exist, such as 30 February. */
function isDate(match: RegExpExecArray | null): boolean {
  if (match === null) return false
  const [year, month, day] = match.slice(1, 4).map(Number) as [number, number, number]
  return new Date(Date.UTC(2000 + year, month - 1, day)).getUTCDate() === day
}

/** Returns true for an address that a real SMSC can route: digits, optionally after a +. */
export const isDestination = (address: string): boolean => /^\+?[0-9]{1,20}$/.test(address)

/** Returns the command_status with which a real SMSC refuses malformed times, or undefined for well-formed times. */
export function timeError(
  pdu: Pick<SubmitSm | SubmitMulti, 'scheduleDeliveryTime' | 'validityPeriod'>,
): number | undefined {
  if (!isTime(pdu.scheduleDeliveryTime)) return COMMAND_STATUS.ESME_RINVSCHED
  return isTime(pdu.validityPeriod) ? undefined : COMMAND_STATUS.ESME_RINVEXPIRY
}
