import {
  formatMinute,
  messageEventId,
  type EventGroup,
  type Instant,
  type MessageEvents,
  type WebhookEvent,
  type WebhookEventData,
} from '@gateway/core'
import { statusFields } from './status-fields.ts'

/**
 * The body of one request to an endpoint, as JSON text: the events in their order. `now` is the time of this try; nothing else differs between tries
 * (docs/interfaces/webhooks.md).
 */
export function webhookBody(groups: readonly EventGroup[], now: Instant): string {
  let json = `{"type":"events","timestamp":"${utc(now)}","data":{"events":[`
  for (const [i, group] of groups.entries()) {
    json += i === 0 ? beforeId : ',' + beforeId
    json += 'messages' in group ? afterIdOfMessages(group) : afterId(group)
  }
  return json + ']}}'
}

/** Ids are letters, digits and signs that need no escapes. */
const beforeId = '{"id":"'
const beforeMessage = '"apiMessageId":'
const beforeNumber = ',"mobileNumber":"'

function afterId({ id, sequence, occurred, data }: WebhookEvent): string {
  const ofMessage = 'message' in data ? `${beforeMessage}${data.message}${beforeNumber}${data.number}",` : ''
  return `${id}${head(data.type, sequence, occurred)}${ofMessage}${fieldsOf(data, occurred)}}}`
}

function afterIdOfMessages(events: MessageEvents): string {
  const { sequence, messages, numbers } = events
  const { between, rest, next } = sharedText(events)
  let json = ''
  for (const [i, each] of messages.entries()) {
    if (i > 0) json += next
    json += messageEventId(each, sequence) + between + String(each) + beforeNumber + (numbers[i] ?? '')
  }
  return json + rest
}

interface SharedText {
  /** From the id of an event to that of its message. */
  readonly between: string
  /** From its number to its end. */
  readonly rest: string
  /** The same, to the id of the next one. */
  readonly next: string
}

/** What they share is written once, as pieces of text (a list of 100 took 0.1 ms longer), also for the lists after it that are of the same send. */
function sharedText(events: MessageEvents): SharedText {
  if (lastShared !== undefined && isAlike(events, lastShared.events)) return lastShared.text
  const { sequence, occurred, shared, messages, numbers } = events
  const [message, number] = [messages[0], numbers[0]]
  if (message === undefined || number === undefined) throw new Error('events of no message')
  const between = [head(shared.type, sequence, occurred), beforeMessage].join('')
  const rest = ['",', fieldsOf({ ...shared, message, number }, occurred), '}}'].join('')
  lastShared = { events, text: { between, rest, next: [rest, ',', beforeId].join('') } }
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
