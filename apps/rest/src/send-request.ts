import { bodyOf, type TextToSend } from '@gateway/core'
import { Type, type Static } from 'typebox'
import { failure, isFailure, type Failure } from './answer.ts'
import { given } from './given.ts'
import { filled, readTime } from './optional-fields.ts'
import { optional, reader, text } from './schema.ts'

/** Recipients of a call, of all its texts together (spec 8). */
const recipientsMax = 1000
/** Existing clients always send it: with it, the limit is that of the specification (ruling 2.4). */
const segmentsMax = 6

const Recipient = Type.Object(
  {
    mobileNumber: text('a string of digits'),
    clientMessageId: optional(text('a string'), 'a string, without U+0000 or half a character'),
  },
  { title: 'Recipient' },
)

/** The body of `/sms/outgoing/send` (ruling 2.4). */
export const Send = Type.Object(
  {
    message: text('a string'),
    recipients: Type.Array(Recipient, {
      minItems: 1,
      maxItems: recipientsMax,
      description: `an array of 1 to ${recipientsMax} objects`,
    }),
    scheduledTime: optional(Type.Union([Type.String(), Type.Number()]), 'a string or a number YYYYMMDDHHmm'),
    maxSegments: optional(
      Type.Integer({ minimum: 1, maximum: segmentsMax }),
      `a whole number from 1 to ${segmentsMax}`,
    ),
  },
  { title: 'Send', description: 'an object' },
)

/** The body of `/sms/outgoing/sendmulti` (ruling 2.6). */
export const SendMulti = Type.Object(
  {
    messages: Type.Array(Send, {
      minItems: 1,
      maxItems: recipientsMax,
      description: `an array of 1 to ${recipientsMax} objects`,
    }),
  },
  { title: 'SendMulti', description: 'an object' },
)

/** A number with what its answer echoes, and its text. */
export interface RequestedRecipient {
  readonly number: string
  /** Null: none given. */
  readonly clientMessageId: string | null
  readonly text: string
}

export type RequestedText = TextToSend<RequestedRecipient>

const readOne = reader(Send)
const readSeveral = reader(SendMulti)

/** A `Send` whose text is not blank and whose time exists. */
export function readSend(body: unknown): RequestedText | Failure {
  const read = readOne(body)
  return isFailure(read) ? read : requestedText(read, '')
}

/** A `SendMulti` of such texts, to at most 1000 recipients in all (spec 8). */
export function readSendMulti(body: unknown): readonly RequestedText[] | Failure {
  const read = readSeveral(body)
  if (isFailure(read)) return read
  const count = read.messages.reduce((sum, { recipients }) => sum + recipients.length, 0)
  if (count > recipientsMax)
    return failure(422, `recipients must be at most ${recipientsMax} in all messages together; got ${count}.`)
  const texts: RequestedText[] = []
  for (const [i, message] of read.messages.entries()) {
    const text = requestedText(message, `messages.${i}.`)
    if (isFailure(text)) return text
    texts.push(text)
  }
  return texts
}

function requestedText(read: Static<typeof Send>, place: string): RequestedText | Failure {
  const { message, recipients, scheduledTime, maxSegments } = read
  // Asked of core, for whom a text of zero-width spaces is blank too.
  const body = bodyOf(message)
  if (body === 'no-message') return failure(422, `${place}message must not be blank.`)
  const scheduled = readTime(scheduledTime)
  if (scheduled === 'malformed')
    return failure(422, `${place}scheduledTime must be a time YYYYMMDDHHmm; got ${given(scheduledTime)}.`)
  return {
    text: message,
    body,
    recipients: recipients.map(({ mobileNumber, clientMessageId }) => ({
      number: mobileNumber,
      clientMessageId: filled(clientMessageId) ?? null,
      text: message,
    })),
    scheduled,
    partsMax: typeof maxSegments === 'number' && maxSegments < segmentsMax ? maxSegments : undefined,
  }
}
