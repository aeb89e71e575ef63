import type { Brand } from '../brand.ts'
import type { Credits } from '../credits/credits.ts'
import type { InboundMessageId } from '../inbox/inbox.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { MessageLabels, MessageReference } from '../messages/messages.ts'
import type { Msisdn, SenderAddress } from '../messages/msisdn.ts'
import { isFinal, OUTCOME, type OutcomeCode } from '../messages/status-code.ts'
import type { Instant } from '../time/instant.ts'

/** Event types, in the order in which documents list them. `test` is sent on request only. */
export const webhookEventTypes = [
  'message.delivered',
  'message.failed',
  'message.unknown',
  'message.sent',
  'reply.received',
  'shortcode.received',
  'optout.added',
  'optout.removed',
] as const

export type WebhookEventType = (typeof webhookEventTypes)[number]

/** Event types of an endpoint that names none: all except `message.sent`. */
export const defaultEventTypes: readonly WebhookEventType[] = webhookEventTypes.filter(
  (type) => type !== 'message.sent',
)

/** Id of an event, derived from its cause, so that it is the same after every retry and replay. */
export type WebhookEventId = Brand<string, 'WebhookEventId'>

/** Parses the id of an event that can be replayed. Returns undefined for any other text. */
export const parseWebhookEventId = (text: string): WebhookEventId | undefined =>
  /^(message-\d{1,15}-\d|inbound-\d{1,15}|optout-(added|removed)-\d{1,15}(-\d{1,15})?)$/.test(text)
    ? (text as WebhookEventId)
    : undefined

/** Event with its time. */
export interface WebhookEvent {
  readonly id: WebhookEventId
  /** Position among the events of one message: later states have higher numbers. 1 for any other event. */
  readonly sequence: number
  readonly occurred: Instant
  readonly data: WebhookEventData
}

/** Content of an event. The text is undefined if the endpoint does not want texts or the text is no longer stored. */
export type WebhookEventData =
  | (MessageLabels & {
      readonly type: Extract<WebhookEventType, `message.${string}`>
      readonly message: MessageId
      readonly number: Msisdn
      readonly code: OutcomeCode
      /** Net credits: charged and not refunded. */
      readonly cost: Credits
      /** True if a carrier accepted the message or may have accepted it (`isAcceptedByCarrier`). */
      readonly staysCharged: boolean
      readonly text: string | undefined
    })
  | {
      readonly type: 'reply.received' | 'shortcode.received'
      readonly inbound: InboundMessageId
      readonly from: string
      readonly shortCode: SenderAddress | undefined
      readonly answers: MessageId | undefined
      readonly text: string | undefined
    }
  | {
      readonly type: 'optout.added' | 'optout.removed'
      readonly number: Msisdn
      /** Inbound message that caused it. Undefined if the entry was changed by hand. */
      readonly inbound: InboundMessageId | undefined
      readonly answers: MessageId | undefined
      readonly text: string | undefined
    }
  | { readonly type: 'test' }

/** Source of a state: the submission to a carrier (or the decision not to submit), or a delivery receipt. */
export type LearntFrom = 'handover' | 'receipt'

/**
 * Returns the sequence number of an event of a message; later states have higher numbers. There are two numbers for
 * unknown (106). If the carrier's answer was lost, the number is lower than that of sent, because the message may turn
 * out to be sent. If a receipt reports unknown, the number is higher than that of sent.
 */
export function messageSequence(code: OutcomeCode, from: LearntFrom): number {
  if (isFinal(code)) return 4
  if (code === OUTCOME.unknown) return from === 'handover' ? 1 : 3
  return 2
}

/**
 * Returns the id of an event of a message, derived from message and state, so that a repeated receipt causes one event.
 */
export const messageEventId = (message: MessageId, sequence: number): WebhookEventId =>
  `message-${message}-${sequence}` as WebhookEventId

export const inboundEventId = (inbound: InboundMessageId): WebhookEventId => `inbound-${inbound}` as WebhookEventId

/**
 * Returns the id of an opt-out event. It is derived from the inbound message, or from number and time for an entry made
 * by hand, because the same number can be added and removed several times.
 */
export const optOutEventId = (
  type: 'optout.added' | 'optout.removed',
  number: Msisdn,
  by: { readonly inbound: InboundMessageId } | { readonly at: Instant },
): WebhookEventId => {
  const change = type.replace('.', '-')
  return ('inbound' in by ? `${change}-${by.inbound}` : `${change}-${number}-${by.at}`) as WebhookEventId
}

export const testEventId = (number: number): WebhookEventId => `test-${number}` as WebhookEventId

/** Returns the event type of an outcome code (ruling 1.16), or undefined if it causes no event. */
export function eventTypeOf(code: OutcomeCode): Extract<WebhookEventType, `message.${string}`> | undefined {
  if (code === OUTCOME.delivered) return 'message.delivered'
  if (code === OUTCOME.unknown) return 'message.unknown'
  if (code === OUTCOME.sent) return 'message.sent'
  return isFinal(code) ? 'message.failed' : undefined
}

type MessageData = Extract<WebhookEventData, { readonly message: MessageId }>

/**
 * Events of several messages of one send that reached the same state. The events differ only in the message, its number
 * and its reference.
 */
export interface MessageEvents {
  readonly sequence: number
  readonly occurred: Instant
  readonly shared: Omit<MessageData, 'message' | 'number' | 'reference'>
  readonly messages: readonly MessageId[]
  /** Number of each message. */
  readonly numbers: readonly Msisdn[]
  /** Reference of each message. Undefined if no message has a reference. */
  readonly references?: readonly (MessageReference | undefined)[] | undefined
}

/**
 * One event, or the events of several messages of one send. Grouped events are pushed without creating an object for
 * each event.
 */
export type EventGroup = WebhookEvent | MessageEvents

interface Grouped {
  readonly groups: readonly EventGroup[]
}

export const eventCount = ({ groups }: Grouped): number =>
  groups.reduce((sum, group) => sum + ('messages' in group ? group.messages.length : 1), 0)

/** Returns the ids of the events, in order. */
export const eventIdsOf = ({ groups }: Grouped): readonly WebhookEventId[] =>
  groups.flatMap((group) => {
    if (!('messages' in group)) return [group.id]
    const { messages, numbers, sequence } = group
    return messages.flatMap((message, i) => (numbers[i] === undefined ? [] : [messageEventId(message, sequence)]))
  })
