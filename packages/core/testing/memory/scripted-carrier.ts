import { setImmediate } from 'node:timers/promises'
import {
  carrierId,
  type Availability,
  type Carrier,
  type CarrierHandlers,
  type CarrierId,
  type CarrierMode,
  type DeliveryReceipt,
  type DeliveryReceiptCode,
  type Submission,
  type SubmissionAnswer,
} from '@gateway/core/dispatch'
import type { InboundMessage } from '@gateway/core/inbox'
import { OUTCOME, type MessageId } from '@gateway/core/messages'

/**
 * Outcome of a submission. A word is the carrier's answer; no receipt follows an 'accepted'. A code means that the
 * carrier accepts the message and sends a receipt with that code. 'held': the carrier answers only when the test calls
 * `release`.
 */
export type ScriptedOutcome = Exclude<SubmissionAnswer['outcome'], 'partly'> | DeliveryReceiptCode | 'held'

export interface ScriptedCarrierOptions {
  /** Id, by default `scripted`. */
  readonly id?: string
  /** Window, by default 1000. */
  readonly window?: number
  /** Returns the number of further submissions that the carrier accepts, by default the rest of the window. */
  readonly room?: () => number
  /** Hands back unsent submissions; by default there are none. */
  readonly handBack?: () => void
  /** Availability at first, by default available. */
  readonly availability?: Availability
  /**
   * Returns the outcome of a submission; `attempt` counts the submissions of this message from 1. Default: delivered.
   */
  readonly outcomeOf?: (message: Submission, attempt: number) => ScriptedOutcome
}

/** A carrier without a network, controlled by a test. */
export interface ScriptedCarrier extends Carrier {
  /** All submissions in order. */
  readonly submitted: readonly Submission[]
  /** Outstanding submissions. */
  readonly unanswered: readonly Submission[]
  /** Maximum number of outstanding submissions so far. */
  readonly unansweredMost: number
  /** Answers at most `count` held submissions, the oldest first; returns how many. */
  release(
    scripted: Exclude<ScriptedOutcome, 'held'>,
    count?: number,
    isReleased?: (message: Submission) => boolean,
  ): number
  /** Returns the carrier's own id of an accepted message. */
  referenceOf(id: MessageId): string
  /** Returns a receipt for an accepted message as this carrier would write it. */
  receiptFor(id: MessageId, code: DeliveryReceiptCode): DeliveryReceipt
  /** Delivers receipts once; rejects if their handler does. */
  deliver(receipts: readonly DeliveryReceipt[]): Promise<void>
  /** Delivers inbound messages once; rejects if their handler does. */
  arrive(inboundMessages: readonly InboundMessage[]): Promise<void>
  /** Changes the availability and reports the change. */
  become(availability: Availability): void
  /** Resolves once every receipt promised by an outcome has been stored. */
  settled(): Promise<void>
}

interface Open {
  readonly message: Submission
  readonly answered: (answers: readonly SubmissionAnswer[]) => void
}

/**
 * Creates the carrier. It answers after the caller's own step and never throws. Submissions after `close` are refused
 * temporarily.
 */
export function scriptedCarrier(options: ScriptedCarrierOptions = {}): ScriptedCarrier {
  const { window = 1000, outcomeOf = () => OUTCOME.delivered } = options
  const id = nameOf(options.id ?? 'scripted')
  const submitted: Submission[] = []
  const known = new Map<MessageId, { message: Submission; attempts: number }>()
  const open = new Set<Open>()
  const outbox = receiptOutbox()
  let unansweredMost = 0
  let closed = false
  let { availability = 'available' } = options
  let mode: CarrierMode = 'running'
  let changed = (): void => undefined
  let onAnswer = (): void => undefined

  const referenceOf = (message: MessageId): string => `${id}-${message}-${known.get(message)?.attempts ?? 0}`
  const receiptFor = (message: MessageId, code: DeliveryReceiptCode): DeliveryReceipt => {
    const number = known.get(message)?.message.to
    return { carrier: id, reference: referenceOf(message), code, number, submitted: undefined }
  }
  const answer = (one: Open, scripted: Exclude<ScriptedOutcome, 'held'>): void => {
    if (!open.delete(one)) return
    const outcome = typeof scripted === 'number' ? 'accepted' : scripted
    const { id: of } = one.message
    one.answered([outcome === 'accepted' ? { id: of, outcome, reference: referenceOf(of) } : { id: of, outcome }])
    if (typeof scripted === 'number') outbox.owe(receiptFor(one.message.id, scripted))
    onAnswer()
  }
  const take = (one: Open): ScriptedOutcome => {
    const { message } = one
    const attempts = (known.get(message.id)?.attempts ?? 0) + 1
    known.set(message.id, { message, attempts })
    submitted.push(message)
    open.add(one)
    unansweredMost = Math.max(unansweredMost, open.size)
    return outcomeOf(message, attempts)
  }

  return {
    id,
    window,
    room: options.room ?? (() => window - open.size),
    handBack: () => options.handBack?.(),
    submitted,
    get unanswered() {
      return [...open].map(({ message }) => message)
    },
    get unansweredMost() {
      return unansweredMost
    },
    submit: (messages, answered) => {
      if (closed) {
        queueMicrotask(() => answered(messages.map(({ id }) => ({ id, outcome: 'refused-for-now' }))))
        return
      }
      const submissions = messages
        .map((message) => ({ message, answered }))
        .map((one) => ({ one, scripted: take(one) }))
      queueMicrotask(() => {
        for (const { one, scripted } of submissions) if (scripted !== 'held') answer(one, scripted)
      })
    },
    release: (scripted, count = open.size, isReleased = () => true) => {
      const released = [...open].filter(({ message }) => isReleased(message)).slice(0, count)
      for (const one of released) answer(one, scripted)
      return released.length
    },
    referenceOf,
    receiptFor,
    listen: outbox.listen,
    deliver: outbox.deliver,
    arrive: outbox.arrive,
    settled: outbox.settled,
    availability: () => availability,
    onAvailability: (listener) => void (changed = listener),
    mode: () => mode,
    setMode: (next) => void (mode = next),
    observe: () => undefined,
    status: () => undefined,
    responseTime: () => undefined,
    become: (now) => {
      availability = now
      changed()
    },
    close: async (deadline) => {
      closed = true
      const answered = new Promise<void>((resolve) => {
        onAnswer = () => (open.size === 0 ? resolve() : undefined)
        onAnswer()
      })
      await Promise.race([answered, deadline])
      for (const one of open) answer(one, 'unknown')
      outbox.close()
    },
  }
}

function nameOf(text: string): CarrierId {
  const id = carrierId(text)
  if (id === undefined) throw new Error(`not a name of a carrier: ${text}`)
  return id
}

/** Offers each owed receipt until it is stored, one after the other. */
function receiptOutbox() {
  let handlers: CarrierHandlers | undefined
  let closed = false
  let last = Promise.resolve()

  const deliver = async (receipts: readonly DeliveryReceipt[]): Promise<void> => {
    if (handlers === undefined) throw new Error('nobody listens to this carrier')
    await handlers.receipts(receipts)
  }
  const offer = async (receipt: DeliveryReceipt): Promise<void> => {
    while (!closed) {
      try {
        await deliver([receipt])
        return
      } catch {
        await setImmediate()
      }
    }
  }
  return {
    listen: (by: CarrierHandlers): void => void (handlers = by),
    deliver,
    arrive: async (inboundMessages: readonly InboundMessage[]): Promise<void> => {
      if (handlers === undefined) throw new Error('nobody listens to this carrier')
      await handlers.inboundMessages(inboundMessages)
    },
    owe: (receipt: DeliveryReceipt): void => void (last = last.then(() => offer(receipt))),
    settled: (): Promise<void> => last,
    close: (): void => void (closed = true),
  }
}
