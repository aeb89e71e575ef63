import {
  formatMinute,
  messageEventId,
  type EventGroup,
  type Instant,
  type MessageEvents,
  type WebhookEvent,
  type WebhookEventData,
} from '@gateway/core'
import { bytesOfRun, runsOf, textOfRun, type RepeatedText, type RunBytes } from './repeated-text.ts'
import { statusFields } from './status-fields.ts'

/** So many events of one send are written as bytes; fewer as text, which is as fast then. */
const runMin = 8

/**
 * The body of one request to an endpoint, JSON in UTF-8: the events, of which there is one at least, in their order. `now` is the time of this try; nothing else differs between tries
 * (docs/interfaces/webhooks.md).
 */
export function webhookBody(groups: readonly EventGroup[], now: Instant): Uint8Array {
  const parts: (string | RunBytes)[] = []
  let text = `{"type":"events","timestamp":"${utc(now)}","data":{"events":[`
  for (const group of groups) {
    if (!('messages' in group)) text += beforeId + afterId(group) + ','
    else
      for (const run of runsOf(repeatedText(group))) {
        if (run.to - run.from < runMin) text += textOfRun(run)
        else {
          parts.push(text, bytesOfRun(run))
          text = ''
        }
      }
  }
  return bytesOf([...parts, text], ']}}')
}

/** The bytes of the parts, with `end` in place of the last character. */
function bytesOf(parts: readonly (string | RunBytes)[], end: string): Uint8Array {
  const [only] = parts
  if (parts.length === 1 && typeof only === 'string') return Buffer.from(only.slice(0, -1) + end)
  const length = parts.reduce(
    (sum, part) => sum + (typeof part === 'string' ? Buffer.byteLength(part) : part.length),
    0,
  )
  const bytes = Buffer.allocUnsafeSlow(length - 1 + end.length)
  let at = 0
  for (const part of parts) at = typeof part === 'string' ? at + bytes.write(part, at) : part.writeTo(bytes, at)
  bytes.write(end, at - 1)
  return bytes
}

/** Ids are letters, digits and signs that need no escapes. */
const beforeId = '{"id":"'
const beforeMessage = '"apiMessageId":'
const beforeNumber = ',"mobileNumber":"'

function afterId({ id, sequence, occurred, data }: WebhookEvent): string {
  const ofMessage = 'message' in data ? `${beforeMessage}${data.message}${beforeNumber}${data.number}",` : ''
  return `${id}${head(data.type, sequence, occurred)}${ofMessage}${fieldsOf(data, occurred)}}}`
}

/** Each event with the comma behind it. */
function repeatedText(events: MessageEvents): RepeatedText {
  const { before, between, rest } = sharedText(events)
  return { before, between, after: beforeNumber, rest, ids: events.messages, numbers: events.numbers }
}

interface SharedText {
  /** To where the id of an event names its message. */
  readonly before: string
  /** From there to the id of its message. */
  readonly between: string
  /** From its number to the comma behind it. */
  readonly rest: string
}

/** What they share is written once, as pieces of text (a list of 100 took 0.1 ms longer), also for the lists after it that are of the same send. */
function sharedText(events: MessageEvents): SharedText {
  if (lastShared !== undefined && isAlike(events, lastShared.events)) return lastShared.text
  const { sequence, occurred, shared, messages, numbers } = events
  const [message, number] = [messages[0], numbers[0]]
  if (message === undefined || number === undefined) throw new Error('events of no message')
  const eventId = messageEventId(message, sequence)
  const at = eventId.indexOf(String(message))
  const before = [beforeId, eventId.slice(0, at)].join('')
  const between = [
    eventId.slice(at + String(message).length),
    head(shared.type, sequence, occurred),
    beforeMessage,
  ].join('')
  const rest = ['",', fieldsOf({ ...shared, message, number }, occurred), '}},'].join('')
  lastShared = { events, text: { before, between, rest } }
  return lastShared.text
}

let lastShared: { readonly events: MessageEvents; readonly text: SharedText } | undefined

const isAlike = (some: MessageEvents, others: MessageEvents): boolean =>
  some.sequence === others.sequence &&
  some.occurred === others.occurred &&
  some.shared.type === others.shared.type &&
  some.shared.code === others.shared.code &&
  some.shared.cost === others.shared.cost &&
  some.shared.taken === others.shared.taken &&
  some.shared.text === others.shared.text

const head = (type: WebhookEventData['type'], sequence: number, occurred: Instant): string =>
  `","type":"${type}","sequence":${sequence},"occurredAt":"${utc(occurred)}","data":{`

/** The fields of the list of REST that tells of the same, under the same names (rulings 2.7, 2.10, 2.12), without message and number. */
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
      return statusFields({ ...data, at: occurred }, '') + textField(data.text)
  }
}

const arrivedFields = (inbound: number | undefined, from: string, occurred: Instant): string =>
  `"incomingApiMessageId":${inbound ?? null},"mobileNumber":${JSON.stringify(from)},"receiveTime":"${formatMinute(occurred)}"`

const answersField = (answers: number | undefined): string => `,"outgoingApiMessageId":${answers ?? null}`

const textField = (text: string | undefined): string =>
  text === undefined ? '' : `,"messageText":${JSON.stringify(text)}`

/** RFC 3339, in UTC, to the millisecond. The time of a try and that of an event are mostly those of the list before: each is written once. */
function utc(at: Instant): string {
  if (at === lastTime.at) return lastTime.text
  const other = lastTime
  lastTime = otherTime.at === at ? otherTime : { at, text: new Date(at).toISOString() }
  otherTime = other
  return lastTime.text
}

let lastTime: { readonly at: number; readonly text: string } = { at: NaN, text: '' }
let otherTime = lastTime
