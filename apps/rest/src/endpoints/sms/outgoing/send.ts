import { formatCredits } from '@gateway/core/credits'
import {
  bodyOf,
  type MessageReference,
  readReference,
  readSender,
  referenceCharactersMax,
  type SendResults,
  type SentRecipient,
  type TextToSend,
} from '@gateway/core/messages'
import { formatMinute } from '@gateway/core/time'
import { RECIPIENT_ERROR } from '@gateway/wire'
import { type Static, Type } from 'typebox'
import { type Answer, failure, type Failure, isFailure, LongFields, overLimit, overloaded } from '../../../answer.ts'
import { filled, describeValue, readTime, anotherRequest, readKey, recipientsIn } from '../../../request.ts'
import {
  answerObject,
  type Call,
  CreditsNumber,
  MessageIdNumber,
  Minute,
  oneOf,
  type Operation,
  orNull,
  post,
} from '../../../operation.ts'
import { optional, reader, text } from '../../../schema.ts'
import { sendOptionFields, sendOptionsIn } from '../../../send-options.ts'

/** Maximum number of recipients of a request, over all its texts (spec 8). */
export const recipientsMax = 1000
/**
 * Maximum value of `maxSegments`. Existing clients always send it. It means that only the maximum length of a text
 * applies (ruling 2.4).
 */
const segmentsMax = 6

const referenceText =
  `Your name for the message: up to ${referenceCharactersMax} characters, no control characters. It is stored, and returned in ` +
  'the status, the list of scheduled messages and the events of the message. Surrounding white space is removed.'

const senderText =
  'The sender of the messages, which the account must be allowed to use: 3 to 15 digits, or a name of 1 to 11 ' +
  'GSM 7-bit characters with at least one letter, to which nobody can reply. Omitted, null or blank: the default of the account.'

const Recipient = Type.Object(
  {
    mobileNumber: text({
      expected: 'a string of digits',
      description: 'A number in international format: digits only, no + and no leading 0, such as 27825550101.',
    }),
    clientMessageId: optional(text({ expected: 'a string', description: 'An id of your own.' }), {
      expected: 'a string without U+0000 or an unpaired surrogate',
      description: 'An id of your own, which is echoed in the response and not stored.',
    }),
    reference: optional(text({ expected: 'a string', description: referenceText }), {
      expected: `a string of up to ${referenceCharactersMax} characters without control characters`,
      description: referenceText,
    }),
  },
  { title: 'Recipient', expected: 'an object', description: 'A recipient of the text.' },
)

/** Body of `/sms/outgoing/send` (ruling 2.4). */
export const Send = Type.Object(
  {
    message: text({
      expected: 'a string',
      description: 'The text: up to 918 characters of GSM 7-bit, else up to 6 parts of UCS-2. It must not be blank.',
    }),
    recipients: Type.Array(Recipient, {
      minItems: 1,
      maxItems: recipientsMax,
      expected: `an array of 1 to ${recipientsMax} objects`,
      description: 'The recipients of the text. The response has one result for each, in this order.',
    }),
    scheduledTime: optional(Type.Union([Type.String(), Type.Number()]), {
      expected: 'a string or a number YYYYMMDDHHmm',
      description: 'When to send, YYYYMMDDHHmm at GMT+2. Omitted, null, blank or past: at once.',
    }),
    maxSegments: optional(Type.Integer({ minimum: 1, maximum: segmentsMax }), {
      expected: `a whole number from 1 to ${segmentsMax}`,
      description:
        'A text that needs more parts is refused as too long. Omitted, null, blank or 6: the maximum length of a text.',
    }),
    ...sendOptionFields,
    sender: optional(text({ expected: 'a string', description: senderText }), {
      expected: 'a string',
      description: senderText,
    }),
  },
  { title: 'Send', expected: 'an object', description: 'One text and its recipients.' },
)

/** Requested recipient: the number, the reference, and the id that the response echoes. */
export interface RequestedRecipient {
  readonly number: string
  /** Client's own id, or null if there is none. */
  readonly clientMessageId: string | null
  readonly reference: MessageReference | undefined
  readonly text: string
}

export type RequestedText = TextToSend<RequestedRecipient>

const readOne = reader(Send)

/** Reads a `Send`. Refuses a blank text and an invalid time. */
function readSend(body: unknown): RequestedText | Failure {
  const read = readOne(body)
  return isFailure(read) ? read : requestedText(read, '')
}

export function requestedText(read: Static<typeof Send>, place: string): RequestedText | Failure {
  const { message, recipients, scheduledTime, maxSegments, sender: named } = read
  // Core decides whether a text is blank, because zero-width spaces count as blank too.
  const body = bodyOf(message)
  if (body === 'no-message') return failure('blank-message', `${place}message must not be blank.`)
  const scheduled = readTime(scheduledTime)
  if (scheduled === 'malformed')
    return failure(
      'invalid-time',
      `${place}scheduledTime must be a time YYYYMMDDHHmm; got ${describeValue(scheduledTime)}.`,
    )
  const sender = readSender(named)
  if (sender === 'unusable')
    return failure(
      'invalid-sender',
      `${place}sender must be 3 to 15 digits, or 1 to 11 GSM 7-bit characters with a letter; got ${describeValue(named)}.`,
    )
  const options = sendOptionsIn(read, place)
  if (isFailure(options)) return options
  const requested: RequestedRecipient[] = []
  for (const { mobileNumber, clientMessageId, reference: asGiven } of recipients) {
    const reference = readReference(asGiven)
    if (reference === 'unusable')
      return failure(
        'field-invalid',
        `${place}recipients.${requested.length}.reference must be a string of up to ${referenceCharactersMax} characters without control characters; got ${describeValue(asGiven)}.`,
      )
    requested.push({ number: mobileNumber, clientMessageId: filled(clientMessageId) ?? null, reference, text: message })
  }
  return {
    text: message,
    body,
    recipients: requested,
    scheduled,
    sender,
    options,
    partsMax: typeof maxSegments === 'number' && maxSegments < segmentsMax ? maxSegments : undefined,
  }
}

const invalidSender = failure('invalid-sender', 'sender must be one that the account may use for these numbers.')

/** Sends the texts and returns the response fields that `fields` renders from the results. */
export async function sendTexts(
  { gateway, account, idempotencyKey }: Call,
  texts: readonly RequestedText[],
  fields: (results: SendResults<RequestedRecipient>) => string,
): Promise<Answer> {
  const key = readKey(idempotencyKey)
  if (typeof key === 'object') return key
  const results = await gateway.commands.sendMessages(account, texts, key)
  if (results === 'overloaded') return overloaded
  if (results === 'another-request') return anotherRequest
  if (results === 'invalid-sender') return invalidSender
  return 'overLimitSeconds' in results ? overLimit(results) : new LongFields(fields(results))
}

// A blank text refuses the whole request, so no recipient has this refusal.
const { 'no-message': _blank, ...RECIPIENT_WORDS } = RECIPIENT_ERROR

/** Schema of one element of `recipientsField`. */
export const SentRecipientAnswer = answerObject('SentRecipient', {
  clientMessageId: orNull(Type.String(), 'As in the request, or null if it had none.'),
  mobileNumber: Type.String({ description: 'As in the request, without surrounding white space.' }),
  accepted: Type.Boolean({ description: 'True if the message will be sent.' }),
  acceptError: oneOf(
    ['', ...Object.values(RECIPIENT_WORDS)],
    'The reason for the refusal. Blank if the message was accepted.',
  ),
  apiMessageId: orNull(MessageIdNumber, 'The id by which to query the status, or null if the message was refused.'),
  scheduledTime: orNull(Minute, 'When the message will be sent, or null if at once.'),
  creditCost: CreditsNumber,
  newCreditBalance: CreditsNumber,
})

/** Renders the field `"recipients":[…]` of one text, in request order (ruling 2.5). */
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
  // An accepted number consists of digits, so it needs no escaping.
  return `{"clientMessageId":${own},"mobileNumber":"${recipient.number}","accepted":true,"acceptError":"","apiMessageId":${id},"scheduledTime":${scheduled},"creditCost":${formatCredits(cost)},"newCreditBalance":${balance}}`
}

/** Example of an accepted recipient. */
export const acceptedExample = {
  clientMessageId: null,
  mobileNumber: '27825550101',
  accepted: true,
  acceptError: '',
  apiMessageId: 5,
  scheduledTime: null,
  creditCost: 1,
  newCreditBalance: 96,
}

/** Example of a refused recipient. */
export const refusedExample = {
  ...acceptedExample,
  mobileNumber: '27825550103',
  accepted: false,
  acceptError: 'OPTEDOUT',
  apiMessageId: null,
  creditCost: 0,
}

const operation: Operation = {
  id: 'smsOutgoingSend',
  tag: 'Sending',
  summary: 'Send one text',
  description:
    'Sends one text to 1 to 1000 numbers. The text has up to 918 characters of GSM 7-bit, else up to 6 parts of UCS-2, and must not be blank. ' +
    'A past `scheduledTime` sends at once. There is one result for each recipient, in the order of the request. A refused recipient ' +
    'costs nothing.',
  body: Send,
  repeatable: true,
  answer: {
    recipients: Type.Array(SentRecipientAnswer, {
      description: 'One result for each recipient, in the order of the request.',
    }),
  },
  examples: {
    'at once': {
      body: {
        message: 'Your parcel is here',
        recipients: [
          { mobileNumber: '27825550101', clientMessageId: 'a-1', reference: 'order 7' },
          { mobileNumber: '0825550101' },
        ],
      },
      answer: {
        recipients: [
          { ...acceptedExample, clientMessageId: 'a-1' },
          { ...refusedExample, mobileNumber: '0825550101', acceptError: 'BADDEST' },
        ],
      },
    },
    later: {
      body: {
        message: 'Happy new year',
        recipients: [{ mobileNumber: '27825550101' }],
        scheduledTime: '202701010000',
        maxSegments: 1,
        validityMinutes: 120,
        priority: 2,
        flash: true,
      },
      answer: {
        recipients: [{ ...acceptedExample, scheduledTime: '202701010000' }],
      },
    },
    'number that is not a string': {
      body: { message: 'Your parcel is here', recipients: [{ mobileNumber: 27825550101 }] },
      answer: failure('field-invalid', 'recipients.0.mobileNumber must be a string of digits; got a number.'),
    },
  },
}

/** Operation smsOutgoingSend: one text to 1 to 1000 numbers (spec 4.1; rulings 2.4, 2.5). */
export const send = post(
  operation,
  readSend,
  (call, text) => sendTexts(call, [text], ([sent]) => recipientsField(sent ?? [])),
  { workOf: recipientsIn },
)
