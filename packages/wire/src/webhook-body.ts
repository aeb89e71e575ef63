import { formatMinute, type Instant, type WebhookEvent, type WebhookEventData } from '@gateway/core'
import { statusFields } from './status-fields.ts'

/**
 * The body of one request to an endpoint, as JSON text: the events in their order. `now` is the time of this try; nothing else differs between tries
 * (docs/interfaces/webhooks.md).
 */
export function webhookBody(events: readonly WebhookEvent[], now: Instant): string {
  let json = `{"type":"events","timestamp":"${utc(now)}","data":{"events":[`
  let last: Written | undefined
  for (const event of events) {
    const { id, data } = event
    const joint = last === undefined ? beforeId : last.next
    if (last === undefined || !differsInMessageOnly(last.event, event)) last = written(event)
    const start = joint + id + last.head
    json += 'message' in data ? start + String(data.message) + beforeNumber + data.number : start
  }
  return json + (last?.rest ?? '') + ']}}'
}

/** Ids are letters, digits and signs that need no escapes. */
const beforeId = '{"id":"'
const beforeNumber = ',"mobileNumber":"'

interface Written {
  readonly event: WebhookEvent
  /** Between the id and the message, if it is of one. */
  readonly head: string
  /** After its number. */
  readonly rest: string
  /** The same, up to the next id. */
  readonly next: string
}

/** Events of one send differ in little: the rest is written once (a list of 100 took 0.1 ms longer). */
function differsInMessageOnly(a: WebhookEvent, b: WebhookEvent): boolean {
  if (!('message' in a.data) || !('message' in b.data)) return false
  return (
    a.occurred === b.occurred &&
    a.sequence === b.sequence &&
    a.data.type === b.data.type &&
    a.data.code === b.data.code &&
    a.data.cost === b.data.cost &&
    a.data.taken === b.data.taken &&
    a.data.text === b.data.text
  )
}

/** Each is one piece of text: a list of 100 took 40 µs to be joined and encoded, and takes 27. */
function written(event: WebhookEvent): Written {
  const { sequence, occurred, data } = event
  const [message, ofMessage] = 'message' in data ? ['"apiMessageId":', '",'] : ['', '']
  const head = [
    '","type":"',
    data.type,
    `","sequence":${sequence},"occurredAt":"`,
    utc(occurred),
    '","data":{',
    message,
  ]
  const rest = [ofMessage, fieldsOf(data, occurred), '}}'].join('')
  return { event, head: head.join(''), rest, next: [rest, ',', beforeId].join('') }
}

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

/** RFC 3339, in UTC, to the millisecond. */
const utc = (at: Instant): string => new Date(at).toISOString()
