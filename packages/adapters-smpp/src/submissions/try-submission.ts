import type { DeliveryReceiptCode, Submission } from '@gateway/core/dispatch'
import { isFinal } from '@gateway/core/messages'
import { COMMAND_STATUS, commandStatusName, type ReceivedPdu } from '@gateway/smpp'
import { otherForms } from '../receipts/id-forms.ts'
import { isReceipt, readReceipt, readReceiptByText, type CarrierReceipt } from '../receipts/read-receipt.ts'
import {
  openSession,
  type AnswerDelivered,
  type Delivered,
  type RequestOutcome,
  type Role,
  type Session,
} from '../session/session.ts'
import type { SmppSettings } from '../settings.ts'
import { encodeBody, messageReferences } from '../text/encode-body.ts'
import { buildSubmit } from './build-submit.ts'

export interface TrialOptions {
  /** Called with every PDU, in the order of sending and arrival. */
  readonly saw: (direction: 'sent' | 'received', pdu: ReceivedPdu) => void
  /** Seconds to wait for receipts after all parts are answered. */
  readonly receiptSeconds: number
  /** Ends all waits when it is aborted. */
  readonly interruption: AbortSignal
}

export interface TriedPart {
  /** Name of the command_status of the response; `no answer` if it is unknown whether the carrier has the part. */
  readonly answer: string
  /** The carrier's id of the part. */
  readonly reference: string | undefined
  /** State in the latest receipt. */
  readonly receipt: DeliveryReceiptCode | undefined
}

export interface TrialResult {
  /** Reason why the bind failed or ended early; undefined if neither happened. */
  readonly problem: string | undefined
  /** Parts that were sent. */
  readonly parts: readonly TriedPart[]
}

type Part = { -readonly [Key in keyof TriedPart]: TriedPart[Key] }

/**
 * Submits one message over a bind of its own, waits for its receipts, and unbinds. Other deliveries during this time
 * are temporarily refused (ESME_RX_T_APPN), so that the carrier sends them to a dispatcher. No behaviour of the carrier
 * makes it throw.
 */
export const trySubmission = (
  settings: SmppSettings,
  message: Omit<Submission, 'id'>,
  options: TrialOptions,
): Promise<TrialResult> => new Trial(settings, message, options).run()

/**
 * A trial of a carrier.
 *
 *   binding --all sessions are bound--> submitting --all parts answered--> waiting for receipts --> unbinding --> ended
 *      +--a session ended, interrupted--------+------------------------------------+--------------------^
 */
class Trial {
  readonly #settings: SmppSettings
  readonly #message: Omit<Submission, 'id'>
  readonly #options: TrialOptions
  readonly #roles: readonly Role[]
  readonly #sessions: readonly Session[]
  readonly #parts: Part[] = []
  /** Receipts that arrived and were not answered yet. */
  readonly #arrived: { readonly receipt: CarrierReceipt; readonly answer: AnswerDelivered }[] = []
  readonly #changes = new Changes()
  readonly #ended = new Set<Role>()
  /** Number of sessions that were bound. */
  #opened = 0
  #isSubmitting = true
  #problem: string | undefined

  constructor(settings: SmppSettings, message: Omit<Submission, 'id'>, options: TrialOptions) {
    this.#settings = settings
    this.#message = message
    this.#options = options
    this.#roles = settings.bind === 'transceiver' ? ['transceiver'] : ['transmitter', 'receiver']
    this.#sessions = this.#roles.map((role) => this.#open(role))
  }

  async run(): Promise<TrialResult> {
    const { receiptSeconds, interruption } = this.#options
    const stop = (): void => this.#changes.notify()
    interruption.addEventListener('abort', stop)
    await this.#changes.until(() => this.#opened === this.#roles.length || this.#isOver(), Infinity)
    const [sender] = this.#sessions
    if (!this.#isOver() && sender !== undefined) await this.#submitAll(sender)
    this.#isSubmitting = false
    this.#settleReceipts()
    await this.#changes.until(() => !this.#isWaiting() || this.#isOver(), receiptSeconds * 1000)
    for (const session of this.#sessions) session.close()
    await this.#changes.until(() => this.#ended.size === this.#roles.length, goodbyeMilliseconds)
    for (const session of this.#sessions) session.destroy('closed')
    interruption.removeEventListener('abort', stop)
    return { problem: this.#problem, parts: this.#parts }
  }

  #open(role: Role): Session {
    return openSession(this.#settings, role, {
      saw: this.#options.saw,
      opened: () => {
        this.#opened++
        this.#changes.notify()
      },
      delivered: (pdu, answer) => this.#take(pdu, answer),
      unusable: (_pdu, _octets, answer) => answer?.(COMMAND_STATUS.ESME_RX_T_APPN),
      ended: (reason) => {
        if (!this.#ended.has(role) && reason !== 'unbound') this.#problem ??= reason
        this.#ended.add(role)
        this.#changes.notify()
      },
    })
  }

  #isOver(): boolean {
    return this.#ended.size > 0 || this.#options.interruption.aborted
  }

  #isWaiting(): boolean {
    return this.#parts.some(({ reference, receipt }) => reference !== undefined && !isLast(receipt))
  }

  async #submitAll(session: Session): Promise<void> {
    const { body, to } = this.#message
    const references = messageReferences()
    const segments = encodeBody(body, this.#settings, (limit) => references.next(to, limit))
    for (const segment of segments) {
      if (this.#isOver()) return
      const outcome = await new Promise<RequestOutcome>((resolve) => {
        const build = (sequence: number) => buildSubmit(this.#settings, this.#message, segment, sequence)
        if (session.request(build, resolve) === 'invalid') resolve('unsent')
      })
      if (outcome === 'unsent') {
        this.#problem ??= 'a field does not fit its place in a submit_sm'
        return
      }
      const part = partOf(outcome)
      this.#parts.push(part)
      if (part.reference === undefined) return
    }
  }

  #take(pdu: Delivered, answer: AnswerDelivered): void {
    const receipt = isReceipt(pdu) ? readReceipt(pdu, this.#settings) : readReceiptByText(pdu, this.#settings)
    if (receipt === undefined || receipt === 'unreadable') answer(COMMAND_STATUS.ESME_RX_T_APPN)
    else this.#arrived.push({ receipt, answer })
    if (!this.#isSubmitting) this.#settleReceipts()
  }

  /** Matches receipts once all parts are answered, because a receipt may arrive before the response with the id. */
  #settleReceipts(): void {
    for (const { receipt, answer } of this.#arrived.splice(0)) {
      const part = this.#parts.find((one) => isOf(receipt, one, this.#message.to))
      if (part !== undefined) part.receipt = receipt.code
      answer(part === undefined ? COMMAND_STATUS.ESME_RX_T_APPN : COMMAND_STATUS.ESME_ROK)
    }
    this.#changes.notify()
  }
}

/** Maximum time that a session takes to unbind, with a margin. */
const goodbyeMilliseconds = 4000

const isLast = (code: DeliveryReceiptCode | undefined): boolean => code !== undefined && isFinal(code)

const isOf = ({ id, number }: CarrierReceipt, { reference }: Part, to: string): boolean =>
  reference !== undefined &&
  (number === undefined || number === to) &&
  (id === reference || otherForms(id).some((other) => other.reference === reference))

function partOf(outcome: RequestOutcome): Part {
  if (typeof outcome === 'string') return { answer: 'no answer', reference: undefined, receipt: undefined }
  const isAccepted = outcome.command === 'submit_sm_resp' && outcome.status === 0
  const reference = isAccepted ? outcome.messageId : undefined
  return { answer: commandStatusName(outcome.status), reference, receipt: undefined }
}

/** Waits for a condition that changes when it is notified. */
class Changes {
  readonly #waiters: (() => void)[] = []

  notify(): void {
    for (const wake of this.#waiters.splice(0)) wake()
  }

  /** Resolves when the condition is met, after `milliseconds` at the latest. */
  async until(condition: () => boolean, milliseconds: number): Promise<void> {
    let isLate = false
    const late = (): void => {
      isLate = true
      this.notify()
    }
    const timer = milliseconds === Infinity ? undefined : setTimeout(late, milliseconds)
    const isDone = (): boolean => isLate || condition()
    while (!isDone()) await new Promise<void>((resolve) => void this.#waiters.push(resolve))
    clearTimeout(timer)
  }
}
