import { formatMinute, type Instant, type WebhookEvent, type WebhookEventData } from '@gateway/core'
import { statusFields } from './status-fields.ts'

/**
 * The body of one request to an endpoint, as JSON text: the events in their order. `now` is the time of this try; nothing else differs between tries
 * (docs/interfaces/webhooks.md).
 */
export function webhookBody(events: readonly WebhookEvent[], now: Instant): string {
  let json = `{"type":"events","timestamp":"${utc(now)}","data":{"events":[`
  let last: Written | undefined
  let comma = ''
  for (const event of events) {
    const { id, data } = event
    if (last === undefined || !differsInMessageOnly(last.event, event)) last = written(event)
    json += `${comma}{"id":${JSON.stringify(id)}${last.head}${'message' in data ? messageField(data) : ''}${last.rest}`
    comma = ','
  }
  return json + ']}}'
}

interface Written {
  readonly event: WebhookEvent
  /** Between the id and what tells its message from others. */
  readonly head: string
  /** What comes after that. */
  readonly rest: string
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

const written = (event: WebhookEvent): Written => ({
  event,
  head: `,"type":"${event.data.type}","sequence":${event.sequence},"occurredAt":"${utc(event.occurred)}","data":{`,
  rest: `${fieldsOf(event.data, event.occurred)}}}`,
})

const messageField = ({ message, number }: { readonly message: number; readonly number: string }): string =>
  `"apiMessageId":${message},"mobileNumber":"${number}",`

/** The fields of the list of REST that tells of the same, under the same names (rulings 2.7, 2.10, 2.12), without `messageField`. */
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
