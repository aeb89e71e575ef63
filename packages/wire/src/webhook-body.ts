import type { Msisdn } from '@gateway/core/messages'
import { formatMinute, type Instant } from '@gateway/core/time'
import {
  messageEventId,
  type EventGroup,
  type MessageEvents,
  type WebhookEvent,
  type WebhookEventData,
} from '@gateway/core/webhooks'
import { labelFields, statusFields } from './words.ts'

/**
 * Returns the JSON body of one request to an endpoint, with at least one event, in order. `now` is the time of this
 * try; only the time differs between tries (docs/interfaces/webhooks.md).
 */
export function webhookBody(groups: readonly EventGroup[], now: Instant): string {
  const events = groups.map((group) => ('messages' in group ? eventsOfMessages(group) : eventText(group)))
  return `{"type":"events","timestamp":"${utc(now)}","data":{"events":[${events.join()}]}}`
}

/** Returns one event as JSON. Ids contain only characters that need no escapes. */
const eventText = ({ id, sequence, occurred, data }: WebhookEvent): string =>
  `{"id":"${id}"${head(data.type, sequence, occurred)}${fieldsOf(data, occurred)}}}`

/** Returns the events of messages as JSON. Shared fields are rendered once. */
function eventsOfMessages({ sequence, occurred, shared, messages, numbers, references }: MessageEvents): string {
  const [message, number] = [messages[0], numbers[0]]
  if (message === undefined || number === undefined) throw new Error('an event of type message has no message')
  const eventId = messageEventId(message, sequence)
  const at = eventId.indexOf(String(message))
  const beforeId = joined('{"id":"', eventId.slice(0, at))
  const between = joined(
    eventId.slice(at + String(message).length),
    '"',
    head(shared.type, sequence, occurred),
    '"apiMessageId":',
  )
  const [status, text] = messageFields({ ...shared, number }, occurred)
  const rest = joined('",', status, labelFields({ ...shared, reference: undefined }), text, '}}')
  let events = ''
  for (const [i, message] of messages.entries()) {
    const id = String(message)
    const reference = references?.[i]
    const end = reference === undefined ? rest : `",${status}${labelFields({ ...shared, reference })}${text}}}`
    events += (i === 0 ? '' : ',') + beforeId + id + between + id + ',"mobileNumber":"' + (numbers[i] ?? '') + end
  }
  return events
}

/**
 * Joins texts into one flat string. V8 keeps the result of a template literal as a tree of pieces, and a list of 100
 * events would copy each piece 100 times (30 µs).
 */
const joined = (...parts: readonly string[]): string => parts.join('')

const head = (type: WebhookEventData['type'], sequence: number, occurred: Instant): string =>
  `,"type":"${type}","sequence":${sequence},"occurredAt":"${utc(occurred)}","data":{`

/** Returns two texts: the fields before the labels of the message, and the fields after them. */
const messageFields = (
  data: MessageEvents['shared'] & { readonly number: Msisdn },
  occurred: Instant,
): readonly [status: string, text: string] => [statusFields({ ...data, at: occurred }, ''), textField(data.text)]

/** Returns the fields of an event, under the names of the corresponding list of REST (rulings 2.7, 2.10, 2.12). */
function fieldsOf(data: WebhookEventData, occurred: Instant): string {
  switch (data.type) {
    case 'test':
      return ''
    case 'reply.received':
      return arrivedFields(data.inbound, data.from, occurred) + answersField(data.answers) + textField(data.text)
    case 'shortcode.received':
      return (
        arrivedFields(data.inbound, data.from, occurred) +
        `,"shortCode":"${data.shortCode ?? ''}"${textField(data.text)}`
      )
    case 'optout.added':
    case 'optout.removed':
      return arrivedFields(data.inbound, data.number, occurred) + answersField(data.answers) + textField(data.text)
    case 'message.delivered':
    case 'message.failed':
    case 'message.unknown':
    case 'message.sent':
      return `"apiMessageId":${data.message},"mobileNumber":"${data.number}",${messageFields(data, occurred).join(labelFields(data))}`
  }
}

const arrivedFields = (inbound: number | undefined, from: string, occurred: Instant): string =>
  `"incomingApiMessageId":${inbound ?? null},"mobileNumber":${JSON.stringify(from)}` +
  `,"receiveTime":"${formatMinute(occurred)}"`

const answersField = (answers: number | undefined): string => `,"outgoingApiMessageId":${answers ?? null}`

const textField = (text: string | undefined): string =>
  text === undefined ? '' : `,"messageText":${JSON.stringify(text)}`

/** Returns a time in RFC 3339, in UTC, with milliseconds. */
const utc = (at: Instant): string => new Date(at).toISOString()
