import { setImmediate as nextTurn } from 'node:timers'
import { describeUnread, readAgain, storedInTime } from '@gateway/carrier-kit'
import { unreadKindOf, type CarrierHandlers, type CarrierId, type UnreadReceipt } from '@gateway/core/dispatch'
import { COMMAND_STATUS } from '@gateway/smpp'
import { isReceipt, readReceipt, readReceiptByText, type CarrierReceipt } from '../receipts/read-receipt.ts'
import type { ReceiptMatcher } from '../receipts/receipt-matcher.ts'
import { createRepeatedRefusals } from '../receipts/repeated-refusals.ts'
import { binaryMessage, readKept, unreadReceipt, unusablePdu } from '../receipts/unread-receipts.ts'
import type { AnswerDelivered, Delivered, Unusable } from '../session/session.ts'
import type { SmppSettings } from '../settings.ts'
import { isBinary } from '../text/decode-text.ts'
import { Offers, type Confirm } from './offers.ts'
import { readInboundMessage } from './read-inbound-message.ts'

interface Arrival<Item> {
  readonly item: Item
  readonly answer: AnswerDelivered
  readonly confirm: Confirm
}

interface ReceiptArrival extends Arrival<CarrierReceipt> {
  /** Record to keep if only the text shows that this is a receipt, and the receipt has no message. */
  readonly unread?: UnreadReceipt
}

/**
 * PDU that cannot be read. If `answer` is undefined, the PDU was refused already, and the carrier does not offer it
 * again.
 */
interface UnreadArrival {
  readonly item: UnreadReceipt
  readonly answer: AnswerDelivered | undefined
}

export interface IncomingEvents {
  /** Called before arrivals are passed to the store, to report answers that were received earlier. */
  beforeStoring(): void
  /**
   * Called after PDUs that cannot be read were kept. `isOddPdu` is true if all of them are unusable PDUs, which may
   * have ended their session.
   */
  keptUnread(problem: string, isOddPdu: boolean): void
  /** Called after `count` kept PDUs could be read after all. */
  readAgain(count: number): void
}

/** Maximum number of refused PDUs that wait until the store can keep them. */
const refusedMax = 100
/** Time between two attempts to keep refused PDUs. */
const keepAgainMilliseconds = 1000

/**
 * Receipts, messages and unusable PDUs of a carrier on their way to the store (P-7).
 *
 *   arrived --end of the turn--> storing --stored in time--> acknowledged
 *                                   +--failed or too late--> temporarily refused; the carrier offers it again
 *   refused PDU --end of the turn--> storing --stored--> kept
 *                          ^             +--failed--> waiting --1 s--+
 *                          +----------------------------------------+
 */
export class Incoming {
  readonly #carrier: CarrierId
  readonly #settings: SmppSettings
  readonly #events: IncomingEvents
  readonly #repeated = createRepeatedRefusals()
  readonly #offers = new Offers((ended) => this.#handlers?.offersEnded?.(ended) ?? Promise.resolve())
  #handlers: CarrierHandlers | undefined
  #matcher: ReceiptMatcher | undefined
  #receipts: ReceiptArrival[] = []
  #messages: Arrival<Delivered>[] = []
  #unread: UnreadArrival[] = []
  /** True if the arrivals will be stored at the end of this turn of the event loop. */
  #isScheduled = false
  #keepingAgain: NodeJS.Timeout | undefined
  #isClosed = false
  /** Number of PDUs that could not be read. */
  #unreadable = 0

  constructor(carrier: CarrierId, settings: SmppSettings, events: IncomingEvents) {
    this.#carrier = carrier
    this.#settings = settings
    this.#events = events
  }

  get unreadable(): number {
    return this.#unreadable
  }

  /** Sets the store, and reads the kept PDUs again, because the settings or the program may have changed. */
  async listen(handlers: CarrierHandlers, matcher: ReceiptMatcher): Promise<void> {
    this.#handlers = handlers
    this.#matcher = matcher
    if (handlers.unreadReceipts === undefined) return
    const count = await readAgain<CarrierReceipt>(handlers.unreadReceipts, {
      read: (delivery) => readKept(delivery, this.#carrier, this.#settings),
      receipts: (receipts) => matcher.take(receipts),
      messages: (messages) => handlers.inboundMessages(messages),
      // A receipt that only its text identifies stays unread if it has no message, because it may be a person's text.
      staysUnread: ({ isByTextAlone = false }) => isByTextAlone,
    })
    if (count > 0) this.#events.readAgain(count)
  }

  readonly delivered = (pdu: Delivered, answer: AnswerDelivered, confirm: Confirm, octets: () => Buffer): void => {
    const receipt = isReceipt(pdu) ? readReceipt(pdu, this.#settings) : readReceiptByText(pdu, this.#settings)
    if (receipt !== undefined && receipt !== 'unreadable' && receipt.isByTextAlone === true) {
      const unread = { carrier: this.#carrier, ...unreadReceipt(pdu, octets(), this.#settings) }
      this.#receipts.push({ item: receipt, unread, answer, confirm })
    } else if (receipt === 'unreadable') this.#keepLater(unreadReceipt(pdu, octets(), this.#settings), answer)
    else if (receipt !== undefined) this.#receipts.push({ item: receipt, answer, confirm })
    else if (isBinary(pdu.dataCoding)) this.#keepLater(binaryMessage(pdu, octets(), this.#settings), answer)
    else this.#messages.push({ item: pdu, answer, confirm })
    this.#storeSoon()
  }

  readonly unusable = (_pdu: Unusable, octets: () => Buffer, answer?: AnswerDelivered): void => {
    const bytes = octets()
    if (this.#repeated.isRepetition(bytes)) this.#unreadable++
    else this.#keepLater(unusablePdu(bytes, this.#settings), answer)
  }

  /** Confirms the acknowledgements given so far. Call it while links are still bound. */
  confirm(): Promise<void> {
    this.#isClosed = true
    return this.#offers.stop()
  }

  stop(): void {
    clearTimeout(this.#keepingAgain)
  }

  #keepLater(item: Omit<UnreadReceipt, 'carrier'>, answer?: AnswerDelivered): void {
    this.#unread.push({ item: { carrier: this.#carrier, ...item }, answer })
    this.#storeSoon()
  }

  #storeSoon(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    nextTurn(() => this.#storeAll())
  }

  #storeAll(): void {
    this.#isScheduled = false
    const [receipts, messages, unread] = [this.#receipts, this.#messages, this.#unread]
    this.#receipts = []
    this.#messages = []
    this.#unread = []
    // Reports answers of earlier submissions first, because the store finds the message of a receipt by the id in the
    // answer.
    this.#events.beforeStoring()
    if (receipts.length > 0) void this.#store(receipts, () => this.#storeReceipts(receipts))
    if (messages.length > 0) void this.#storeMessages(messages)
    if (unread.length > 0) void this.#storeUnread(unread)
  }

  #store(arrivals: readonly Arrival<unknown>[], store: () => Promise<unknown> | undefined): Promise<boolean> {
    const answers = arrivals.map(({ answer }) => answer)
    return acknowledge(answers, store, this.#settings.storeSeconds)
  }

  /**
   * Stores receipts. If only the text identifies a receipt and it has no message, it may be a person's text and is kept
   * as unread.
   */
  async #storeReceipts(arrivals: readonly ReceiptArrival[]): Promise<void> {
    const unmatched = await this.#matcher?.take(arrivals.map(({ item }) => item))
    const unread = arrivals.flatMap((arrival) => (unmatched?.includes(arrival.item) && arrival.unread) || [])
    if (unread.length === 0) return
    await this.#handlers?.unreadReceipts?.keep(unread)
    this.#reportUnread(unread)
  }

  async #storeMessages(arrivals: readonly Arrival<Delivered>[]): Promise<void> {
    const read = arrivals.map((arrival) => {
      const nameOf = (content: string): string => this.#offers.of(content, arrival.confirm)
      return { ...arrival, item: readInboundMessage(arrival.item, this.#carrier, this.#settings, nameOf) }
    })
    const isStored = await this.#store(read, () => this.#handlers?.inboundMessages(read.map(({ item }) => item)))
    if (isStored) for (const { item, confirm } of read) this.#offers.acknowledged([item.offer ?? ''], confirm)
  }

  async #storeUnread(arrivals: readonly UnreadArrival[]): Promise<void> {
    const items = arrivals.map(({ item }) => item)
    const answers = arrivals.flatMap(({ answer }) => answer ?? [])
    const keep = () => this.#handlers?.unreadReceipts?.keep(items)
    if (await acknowledge(answers, keep, this.#settings.storeSeconds)) {
      this.#reportUnread(items)
      return
    }
    // The carrier offers deliveries again. PDUs that were refused already wait here for the next attempt.
    this.#unread.unshift(...arrivals.filter(({ answer }) => answer === undefined).slice(-refusedMax))
    if (this.#unread.length > 0 && !this.#isClosed)
      this.#keepingAgain ??= setTimeout(() => {
        this.#keepingAgain = undefined
        this.#storeSoon()
      }, keepAgainMilliseconds)
  }

  #reportUnread(items: readonly UnreadReceipt[]): void {
    this.#unreadable += items.length
    const problem = `${describeUnread(items)}: gateway carrier receipts ${this.#carrier} --unread`
    this.#events.keptUnread(problem, !items.some((item) => unreadKindOf(item) !== 'pdu'))
  }
}

/**
 * Acknowledges deliveries once `store` has resolved (P-7). If it rejects, or takes longer than `secondsMax`, they are
 * temporarily refused. Resolves to true if they were acknowledged. Never rejects.
 */
async function acknowledge(
  answers: readonly AnswerDelivered[],
  store: () => Promise<unknown> | undefined,
  secondsMax: number,
): Promise<boolean> {
  const isStored = await storedInTime(store, secondsMax)
  for (const answer of answers) answer(isStored ? COMMAND_STATUS.ESME_ROK : COMMAND_STATUS.ESME_RX_T_APPN)
  return isStored
}
