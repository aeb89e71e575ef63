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
  /** Ends all waits. */
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
 * are refused for now (ESME_RX_T_APPN), so that the carrier sends them to a dispatcher. No behaviour of the carrier
 * makes it throw.
 */
export async function trySubmission(
  settings: SmppSettings,
  message: Omit<Submission, 'id'>,
  { saw, receiptSeconds, interruption }: TrialOptions,
): Promise<TrialResult> {
  const roles: readonly Role[] = settings.bind === 'transceiver' ? ['transceiver'] : ['transmitter', 'receiver']
  const parts: Part[] = []
  const arrived: { readonly receipt: CarrierReceipt; readonly answer: AnswerDelivered }[] = []
  const changes = createChanges()
  const ended = new Set<Role>()
  let opened = 0
  let isSubmitting = true
  let problem: string | undefined

  const sessions = roles.map((role) =>
    openSession(settings, role, {
      saw,
      opened() {
        opened++
        changes.notify()
      },
      delivered: take,
      unusable: (_pdu, _octets, answer) => answer?.(COMMAND_STATUS.ESME_RX_T_APPN),
      ended(reason) {
        if (!ended.has(role) && reason !== 'unbound') problem ??= reason
        ended.add(role)
        changes.notify()
      },
    }),
  )
  const [sender] = sessions
  const isOver = (): boolean => ended.size > 0 || interruption.aborted
  const stop = (): void => changes.notify()
  interruption.addEventListener('abort', stop)

  function take(pdu: Delivered, answer: AnswerDelivered): void {
    const receipt = isReceipt(pdu) ? readReceipt(pdu, settings) : readReceiptByText(pdu, settings)
    if (receipt === undefined || receipt === 'unreadable') answer(COMMAND_STATUS.ESME_RX_T_APPN)
    else arrived.push({ receipt, answer })
    if (!isSubmitting) settleReceipts()
  }

  /** Matches receipts once all parts are answered, because a receipt may arrive before the response with the id. */
  function settleReceipts(): void {
    for (const { receipt, answer } of arrived.splice(0)) {
      const part = parts.find((one) => isOf(receipt, one, message.to))
      if (part !== undefined) part.receipt = receipt.code
      answer(part === undefined ? COMMAND_STATUS.ESME_RX_T_APPN : COMMAND_STATUS.ESME_ROK)
    }
    changes.notify()
  }

  async function submitAll(session: Session): Promise<void> {
    const references = messageReferences()
    const segments = encodeBody(message.body, settings, (limit) => references.next(message.to, limit))
    for (const segment of segments) {
      if (isOver()) return
      const outcome = await new Promise<RequestOutcome>((resolve) => {
        const sent = session.request((sequence) => buildSubmit(settings, message, segment, sequence), resolve)
        if (sent === 'invalid') resolve('unsent')
      })
      if (outcome === 'unsent') {
        problem ??= 'a field does not fit its place in a submit_sm'
        return
      }
      parts.push(partOf(outcome))
      if (parts.at(-1)?.reference === undefined) return
    }
  }

  await changes.until(() => opened === roles.length || isOver(), Infinity)
  if (!isOver() && sender !== undefined) await submitAll(sender)
  isSubmitting = false
  settleReceipts()
  const isWaiting = (): boolean => parts.some(({ reference, receipt }) => reference !== undefined && !isLast(receipt))
  await changes.until(() => !isWaiting() || isOver(), receiptSeconds * 1000)
  for (const session of sessions) session.close()
  await changes.until(() => ended.size === roles.length, goodbyeMilliseconds)
  for (const session of sessions) session.destroy('closed')
  interruption.removeEventListener('abort', stop)
  return { problem, parts }
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
function createChanges() {
  const waiters: (() => void)[] = []
  const notify = (): void => {
    for (const wake of waiters.splice(0)) wake()
  }
  return {
    notify,
    async until(condition: () => boolean, milliseconds: number): Promise<void> {
      let isLate = false
      const late = (): void => {
        isLate = true
        notify()
      }
      const timer = milliseconds === Infinity ? undefined : setTimeout(late, milliseconds)
      const isDone = (): boolean => isLate || condition()
      while (!isDone()) await new Promise<void>((resolve) => void waiters.push(resolve))
      clearTimeout(timer)
    },
  }
}
