import type { MessageId } from '../message/message-id.ts'
import type { Msisdn } from '../message/msisdn.ts'
import type { Instant } from '../time/instant.ts'
import { messageEventId, type WebhookEvent, type WebhookEventData } from './webhook-event.ts'

type MessageData = Extract<WebhookEventData, { readonly message: MessageId }>

/** Events of one or more messages, in their order, that differ in nothing but the message and its number: of a send that came to one state. */
export interface MessageEvents {
  readonly sequence: number
  readonly occurred: Instant
  readonly shared: Omit<MessageData, 'message' | 'number'>
  readonly messages: readonly MessageId[]
  /** Of each message. */
  readonly numbers: readonly Msisdn[]
}

/** One event, or several of one send, for which no objects are made while they are pushed. */
export type EventGroup = WebhookEvent | MessageEvents

interface Grouped {
  readonly groups: readonly EventGroup[]
}

export const eventCount = ({ groups }: Grouped): number =>
  groups.reduce((sum, group) => sum + ('messages' in group ? group.messages.length : 1), 0)

/** Each event for itself, in their order. */
export const eventsOf = ({ groups }: Grouped): readonly WebhookEvent[] =>
  groups.flatMap((group) => ('messages' in group ? eventsOfMessages(group) : [group]))

const eventsOfMessages = ({ sequence, occurred, shared, messages, numbers }: MessageEvents): readonly WebhookEvent[] =>
  messages.flatMap((message, i) => {
    const number = numbers[i]
    const id = messageEventId(message, sequence)
    return number === undefined ? [] : [{ id, sequence, occurred, data: { ...shared, message, number } }]
  })
