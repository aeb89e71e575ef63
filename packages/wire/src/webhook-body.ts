import { formatMinute, type Instant, type WebhookEvent, type WebhookEventData } from '@gateway/core'
import { statusFields } from './status-fields.ts'

/**
 * The body of one request to an endpoint, as JSON text: the events in their order. `now` is the time of this try; nothing else differs between tries
 * (docs/interfaces/webhooks.md).
 */
export const webhookBody = (events: readonly WebhookEvent[], now: Instant): string =>
  `{"type":"events","timestamp":"${utc(now)}","data":{"events":[${events.map(eventJson).join()}]}}`

const eventJson = ({ id, sequence, occurred, data }: WebhookEvent): string =>
  `{"id":${JSON.stringify(id)},"type":"${data.type}","sequence":${sequence},"occurredAt":"${utc(occurred)}"` +
  `,"data":{${fieldsOf(data, occurred)}}}`

/** The fields of the list of REST that tells of the same, under the same names (rulings 2.7, 2.10, 2.12). */
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
      return (
        `"apiMessageId":${data.message},"mobileNumber":"${data.number}",` +
        statusFields({ ...data, at: occurred }, '') +
        textField(data.text)
      )
  }
}

const arrivedFields = (inbound: number | undefined, from: string, occurred: Instant): string =>
  `"incomingApiMessageId":${inbound ?? null},"mobileNumber":${JSON.stringify(from)},"receiveTime":"${formatMinute(occurred)}"`

const answersField = (answers: number | undefined): string => `,"outgoingApiMessageId":${answers ?? null}`

const textField = (text: string | undefined): string =>
  text === undefined ? '' : `,"messageText":${JSON.stringify(text)}`

/** RFC 3339, in UTC, to the millisecond. */
const utc = (at: Instant): string => new Date(at).toISOString()
