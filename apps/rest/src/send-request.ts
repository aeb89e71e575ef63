import {
  bodyOf,
  formatCredits,
  formatMinute,
  type MessageReference,
  readReference,
  readSender,
  referenceCharactersMax,
  type SendResults,
  type SentRecipient,
  type TextToSend,
  priorityMax,
  priorityOf,
  validityMinutes,
  validityMinutesMax,
} from '@gateway/core'
import { RECIPIENT_ERROR } from '@gateway/wire'
import { type Static, Type } from 'typebox'
import { type Answer, failure, type Failure, isFailure, LongFields, overLimit, overloaded } from './answer.ts'
import type { Call } from './endpoint.ts'
import { filled, given, readTime } from './given.ts'
import { answerObject, CreditsNumber, MessageIdNumber, Minute, oneOf, orNull } from './operation.ts'
import { anotherRequest, readKey } from './request.ts'
import { optional, reader, text } from './schema.ts'

/** Recipients of a call, of all its texts together (spec 8). */
const recipientsMax = 1000
/** Existing clients always send it: with it, the limit is that of the specification (ruling 2.4). */
const segmentsMax = 6

const referenceText =
  `What you call the message: up to ${referenceCharactersMax} characters, no control characters. It is stored, and is in the ` +
  'status, the list of scheduled messages and the events of the message. White space around it does not count.'

const senderText =
  'What the messages come from: one that the account may use, 3 to 15 digits, or a name of 1 to 11 ' +
  'GSM 7-bit characters with at least one letter, to which nobody can reply. Left out, null or blank: the default of the account.'

const Recipient = Type.Object(
  {
    mobileNumber: text({
      expected: 'a string of digits',
      description: 'A number in international format: digits only, no + and no leading 0, such as 27825550101.',
    }),
    clientMessageId: optional(text({ expected: 'a string', description: 'An id of your own.' }), {
      expected: 'a string, without U+0000 or half a character',
      description: 'An id of your own, which is echoed in the answer and not stored.',
    }),
    reference: optional(text({ expected: 'a string', description: referenceText }), {
      expected: `a string of up to ${referenceCharactersMax} characters without control characters`,
      description: referenceText,
    }),
  },
  { title: 'Recipient', expected: 'an object', description: 'Who gets the text.' },
)

/** The body of `/sms/outgoing/send` (ruling 2.4). */
export const Send = Type.Object(
  {
    message: text({
      expected: 'a string',
      description: 'The text: up to 918 characters of GSM 7-bit, else up to 6 parts of UCS-2. It is not blank.',
    }),
    recipients: Type.Array(Recipient, {
      minItems: 1,
      maxItems: recipientsMax,
      expected: `an array of 1 to ${recipientsMax} objects`,
      description: 'The numbers that get the text. Each is answered by itself, in this order.',
    }),
    scheduledTime: optional(Type.Union([Type.String(), Type.Number()]), {
      expected: 'a string or a number YYYYMMDDHHmm',
      description: 'When to send, YYYYMMDDHHmm at GMT+2. Left out, null, blank or past: at once.',
    }),
    maxSegments: optional(Type.Integer({ minimum: 1, maximum: segmentsMax }), {
      expected: `a whole number from 1 to ${segmentsMax}`,
      description: 'A text that needs more parts is too long. Left out, null, blank or 6: as long as a text can be.',
    }),
    validityMinutes: optional(Type.Integer({ minimum: 1, maximum: validityMinutesMax }), {
      expected: `a whole number from 1 to ${validityMinutesMax}`,
      description:
        'So many minutes after it is due a message may wait; then it ends as expired (101) and is refunded. ' +
        'Left out, null or blank: as long as the gateway lets messages wait.',
    }),
    priority: optional(Type.Integer({ minimum: 0, maximum: priorityMax }), {
      expected: `a whole number from 0 to ${priorityMax}`,
      description:
        'Of what waits of the account, messages of a higher priority go first. Left out, null, blank or 0: in the order of acceptance.',
    }),
    flash: optional(Type.Boolean(), {
      expected: 'true or false',
      description:
        'Whether phones shall show the text at once and not keep it. Left out, null, blank or false: they keep it.',
    }),
    sender: optional(text({ expected: 'a string', description: senderText }), {
      expected: 'a string',
      description: senderText,
    }),
  },
  { title: 'Send', expected: 'an object', description: 'One text and who gets it.' },
)

/** The body of `/sms/outgoing/sendmulti` (ruling 2.6). */
export const SendMulti = Type.Object(
  {
    messages: Type.Array(Send, {
      minItems: 1,
      maxItems: recipientsMax,
      expected: `an array of 1 to ${recipientsMax} objects`,
      description: 'The texts, each with its numbers: at most 1000 numbers in all.',
    }),
  },
  { title: 'SendMulti', expected: 'an object', description: 'Several texts and who gets each.' },
)

/** A number with what its answer echoes, and its text. */
export interface RequestedRecipient {
  readonly number: string
  /** Null: none given. */
  readonly clientMessageId: string | null
  readonly reference: MessageReference | undefined
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
    return failure(
      'too-many-recipients',
      `recipients must be at most ${recipientsMax} in all messages together; got ${count}.`,
    )
  const texts: RequestedText[] = []
  for (const [i, message] of read.messages.entries()) {
    const text = requestedText(message, `messages.${i}.`)
    if (isFailure(text)) return text
    texts.push(text)
  }
  return texts
}

function requestedText(read: Static<typeof Send>, place: string): RequestedText | Failure {
  const { message, recipients, scheduledTime, maxSegments, sender: named } = read
  const { validityMinutes: minutes, priority, flash } = read
  // Asked of core, for whom a text of zero-width spaces is blank too.
  const body = bodyOf(message)
  if (body === 'no-message') return failure('blank-message', `${place}message must not be blank.`)
  const scheduled = readTime(scheduledTime)
  if (scheduled === 'malformed')
    return failure('invalid-time', `${place}scheduledTime must be a time YYYYMMDDHHmm; got ${given(scheduledTime)}.`)
  const sender = readSender(named)
  if (sender === 'unusable')
    return failure(
      'invalid-sender',
      `${place}sender must be 3 to 15 digits, or 1 to 11 GSM 7-bit characters with a letter; got ${given(named)}.`,
    )
  const requested: RequestedRecipient[] = []
  for (const { mobileNumber, clientMessageId, reference: asGiven } of recipients) {
    const reference = readReference(asGiven)
    if (reference === 'unusable')
      return failure(
        'field-invalid',
        `${place}recipients.${requested.length}.reference must be a string of up to ${referenceCharactersMax} characters without control characters; got ${given(asGiven)}.`,
      )
    requested.push({ number: mobileNumber, clientMessageId: filled(clientMessageId) ?? null, reference, text: message })
  }
  return {
    text: message,
    body,
    recipients: requested,
    scheduled,
    sender,
    validity: typeof minutes === 'number' ? validityMinutes(minutes) : undefined,
    priority: typeof priority === 'number' ? priorityOf(priority) : undefined,
    flash: flash === true ? flash : undefined,
    partsMax: typeof maxSegments === 'number' && maxSegments < segmentsMax ? maxSegments : undefined,
  }
}

const invalidSender = failure('invalid-sender', 'sender must be one that the account may use for these numbers.')

/** Sends, and answers with what `fields` makes of the results. */
export async function sendTexts(
  { gateway, account, idempotencyKey }: Call,
  texts: readonly RequestedText[],
  fields: (results: SendResults<RequestedRecipient>) => string,
): Promise<Answer> {
  const key = readKey(idempotencyKey)
  if (typeof key === 'object') return key
  const results = await gateway.sendMessages(account, texts, key)
  if (results === 'overloaded') return overloaded
  if (results === 'another-request') return anotherRequest
  if (results === 'invalid-sender') return invalidSender
  return 'overLimitSeconds' in results ? overLimit(results) : new LongFields(fields(results))
}

// A blank text is refused with the whole call.
const { 'no-message': _blank, ...told } = RECIPIENT_ERROR

/** One element of `recipientsField`. */
export const SentRecipientAnswer = answerObject('SentRecipient', {
  clientMessageId: orNull(Type.String(), 'As in the request; null if it had none.'),
  mobileNumber: Type.String({ description: 'As in the request, without white space around it.' }),
  accepted: Type.Boolean({ description: 'Whether the message will be sent.' }),
  acceptError: oneOf(['', ...Object.values(told)], 'Why it was refused; blank if it was not.'),
  apiMessageId: orNull(MessageIdNumber, 'The id to ask for its status by; null if it was refused.'),
  scheduledTime: orNull(Minute, 'When it will be sent; null if at once.'),
  creditCost: CreditsNumber,
  newCreditBalance: CreditsNumber,
})

/** `"recipients":[…]` of one text, in request order (ruling 2.5). */
export const recipientsField = (sent: readonly SentRecipient<RequestedRecipient>[]): string =>
  `"recipients":[${sent.map(recipientJson).join()}]`

function recipientJson(recipient: SentRecipient<RequestedRecipient>): string {
  const { clientMessageId } = recipient.recipient
  const own = clientMessageId === null ? 'null' : JSON.stringify(clientMessageId)
  const balance = formatCredits(recipient.balance)
  if ('refused' in recipient) {
    const word = RECIPIENT_ERROR[recipient.refused]
    return `{"clientMessageId":${own},"mobileNumber":${JSON.stringify(recipient.number)},"accepted":false,"acceptError":"${word}","apiMessageId":null,"scheduledTime":null,"creditCost":0.0,"newCreditBalance":${balance}}`
  }
  const { id, due, cost } = recipient
  const scheduled = due === undefined ? 'null' : `"${formatMinute(due)}"`
  // What was accepted is digits.
  return `{"clientMessageId":${own},"mobileNumber":"${recipient.number}","accepted":true,"acceptError":"","apiMessageId":${id},"scheduledTime":${scheduled},"creditCost":${formatCredits(cost)},"newCreditBalance":${balance}}`
}
