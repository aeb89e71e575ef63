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
  /** Sends what is owed for a message, after a delay in milliseconds. */
  report(message: StoredMessage, delay: number): void
  /** Submissions that are not answered, of this link. */
  unanswered(link: Link): number
  /** The most that any link had, so far. */
  windowMax(): number
}

type Destination = Pick<SubmitSm, 'destAddrTon' | 'destAddrNpi' | 'destinationAddr'>

interface Context {
  readonly personality: () => Personality
  readonly store: MessageStore
  readonly deliveries: Deliveries
  readonly now: () => number
  /** Calls after so many milliseconds, or, if 0, at the end of this turn; not once the server has closed. */
  readonly after: (milliseconds: number, call: () => void) => void
}

/** How long a receipt that comes before its answer may delay that answer. */
const receiptFirstMilliseconds = 1000

/** What is kept of a link. */
interface LinkState {
  unanswered: number
  /** Of these, those whose answers leave at the end of this turn. */
  answering: number
  answers: number
  submits: number
  nextAnswerAt: number
  second: number
  taken: number
}

export function submissions({ personality, store, deliveries, now, after }: Context): Submissions {
  const states = new WeakMap<Link, LinkState>()
  const refused: Refusals = refusals()
  const quiet = quietReplies()
  let windowMax = 0
  let wrongLengths = 0
  /** Where receipts come one behind the other. */
  let nextReceiptAt = 0

  function stateOf(link: Link): LinkState {
    const known = states.get(link)
    if (known !== undefined) return known
    const state = { unanswered: 0, answering: 0, answers: 0, submits: 0, nextAnswerAt: 0, second: 0, taken: 0 }
    states.set(link, state)
    return state
  }

  /** Whether there is room in this second. */
  function isTaken(state: LinkState): boolean {
    const { submitsPerSecond } = personality()
    if (submitsPerSecond === 0) return true
    const second = Math.floor(now() / 1000)
    if (second !== state.second) Object.assign(state, { second, taken: 0 })
    return ++state.taken <= submitsPerSecond
  }

  function begin(link: Link): LinkState {
    const state = stateOf(link)
    windowMax = Math.max(windowMax, ++state.unanswered)
    return state
  }

  /** Answers now, or when the personality does. */
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
    // The answers of one turn leave together at its end.
    if (state.answering++ === 0) setImmediate(() => haveLeft(state))
    if (isNth(state.answers, wrongLengthEvery)) {
      // Over all links: a client that closes at a wrong length meets the next one on its next link.
      const turn = ++wrongLengths
      link.sendWithLength(pdu, (right) => wrongLength(turn, right))
    } else link.send(pdu)
    if (isNth(state.answers, closesAfterAnswer)) link.end()
  }

  function haveLeft(state: LinkState): void {
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
    const message = take(link, pdu, pdu, outcome)
    const id = formatId(message.number, personality().idForm)
    const closes = isNth(++state.submits, personality().closesBeforeAnswer)
    if (closes) link.end()
    if (closes || outcome.answer === 'none') report(message, personality().receiptDelay)
    else accept(message, outcome, () => respond(0, id))
  }

  /** The status with which it is refused. */
  function refusalOf(pdu: SubmitSm | DataSm, outcome: Outcome, state: LinkState): number | undefined {
    const wrongTime = 'validityPeriod' in pdu ? timeError(pdu) : undefined
    if (wrongTime !== undefined) return wrongTime
    if (!isDestination(pdu.destinationAddr)) return COMMAND_STATUS.ESME_RINVDSTADR
    if (!isTaken(state)) return personality().refusalStatus
    if (outcome.isRefusedFirst && refused.isRefused(keyOf(pdu), personality().numberRefusals)) return refusedForNow
    return isRefusal(outcome.answer) ? outcome.answer : undefined
  }

  /** Answers, and sends the receipts behind it or the first one before it. */
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

  function take(
    link: Link,
    pdu: SubmitSm | DataSm | SubmitMulti,
    { destAddrTon: toTon, destAddrNpi: toNpi, destinationAddr: to }: Destination,
    outcome: Outcome,
    first?: number,
  ): StoredMessage {
    const { receiptDelay } = personality()
    const receipts = askedOf(outcome.receipts, pdu.registeredDelivery)
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
    const taken = first === undefined ? message : { ...message, first }
    store.add(taken)
    return taken
  }

  function report(message: StoredMessage, delay: number): void {
    if (!isOwed(message)) return
    const { shuffle, receiptsPerSecond } = personality()
    const least = delay + Math.random() * shuffle
    if (receiptsPerSecond > 0) nextReceiptAt = Math.max(now() + least, nextReceiptAt + 1000 / receiptsPerSecond)
    after(receiptsPerSecond > 0 ? nextReceiptAt - now() : least, () => sendNext(message))
  }

  /** The next receipt, or the reply. `acknowledged` is called as soon as it was. */
  function sendNext(message: StoredMessage, acknowledged?: () => void): void {
    if (!isOwed(message)) return
    const { receipts, done, systemId } = message
    const state = receipts[done]
    const form = personality()
    const delivery = state === undefined ? replyTo(message) : receipt(message, state, now(), form)
    let left = state === undefined ? form.arrivalTimes : form.receiptTimes
    if (state !== undefined) message.state ??= state
    const onDone = (): void => {
      if (--left > 0) return
      message.done++
      store.progress(message)
      acknowledged?.()
      report(message, form.receiptDelay)
    }
    for (let time = left; time > 0; time--) deliveries.deliver(systemId, delivery, onDone)
  }

  function submitMulti(link: Link, pdu: SubmitMulti): void {
    const state = begin(link)
    if (personality().ignoresSubmissions) return
    const numbers = pdu.destinations.flatMap((each) => ('destinationAddr' in each ? [each] : []))
    const isRefused = ({ destinationAddr }: { destinationAddr: string }) =>
      !isDestination(destinationAddr) || isRefusal(outcomeOf(destinationAddr).answer)
    const wrongTime = timeError(pdu)
    const taken = wrongTime === undefined ? numbers.filter((each) => !isRefused(each)) : []
    const messages: StoredMessage[] = []
    // One message_id for all: receipts tell their numbers apart.
    for (const each of taken) {
      messages.push(take(link, pdu, each, outcomeOf(each.destinationAddr), messages[0]?.number))
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

/** registered_delivery (SMPP 3.4, 5.2.17): 1 all, 2 failures. */
function askedOf(receipts: readonly ReceiptState[], registeredDelivery: number): readonly ReceiptState[] {
  const asked = registeredDelivery & 3
  if (asked === 1) return receipts
  return asked === 2 ? receipts.filter((state) => state !== 'DELIVRD') : []
}

/** In turn: too small, empty, huge, one octet short, seven octets more. */
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

/** The same for a message that is submitted again. */
function keyOf(pdu: SubmitSm | DataSm): string {
  const payload = tlvValue(pdu.tlvs, TLV_TAG.message_payload)
  const text = 'shortMessage' in pdu && pdu.shortMessage.length > 0 ? pdu.shortMessage : payload
  return `${pdu.sourceAddr} ${pdu.destinationAddr} ${withoutReference(pdu.esmClass, text)?.toString('latin1') ?? ''}`
}

/**
 * A part that comes again may have another reference in its header: only its position, the last octet, is kept of that.
 */
const withoutReference = (esmClass: number, text: Buffer | undefined): Buffer | undefined =>
  (esmClass & 0x40) === 0 ? text : text?.subarray(text[0] ?? 0)

const absoluteTime = /^(\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d[0-5]\d\d([0-3]\d|4[0-8])[+-]$/
const relativeTime = /^\d{12}000R$/

/** Left out, or YYMMDDhhmmsstnnp: absolute with an offset in quarters of an hour, or relative (SMPP 3.4, 7.1.1). */
const isTime = (time: string): boolean => time === '' || isDate(absoluteTime.exec(time)) || relativeTime.test(time)

/** 30 February is no date. */
function isDate(match: RegExpExecArray | null): boolean {
  if (match === null) return false
  const [year, month, day] = match.slice(1, 4).map(Number) as [number, number, number]
  return new Date(Date.UTC(2000 + year, month - 1, day)).getUTCDate() === day
}

/** Digits, perhaps behind a +: what a real SMSC routes by. */
export const isDestination = (address: string): boolean => /^\+?[0-9]{1,20}$/.test(address)

/** The command_status of a submission whose times a real SMSC refuses; undefined: they are well formed. */
export function timeError(
  pdu: Pick<SubmitSm | SubmitMulti, 'scheduleDeliveryTime' | 'validityPeriod'>,
): number | undefined {
  if (!isTime(pdu.scheduleDeliveryTime)) return COMMAND_STATUS.ESME_RINVSCHED
  return isTime(pdu.validityPeriod) ? undefined : COMMAND_STATUS.ESME_RINVEXPIRY
}
