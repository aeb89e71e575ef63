import type { SentRecipient } from '@gateway/core/messages'
import { Type } from 'typebox'
import { failure, type Failure, isFailure } from '../../../answer.ts'
import { answerObject, type Operation, post } from '../../../operation.ts'
import { recipientsIn } from '../../../request.ts'
import { reader } from '../../../schema.ts'
import {
  acceptedExample,
  recipientsField,
  recipientsMax,
  refusedExample,
  type RequestedRecipient,
  requestedText,
  type RequestedText,
  Send,
  sendTexts,
  SentRecipientAnswer,
} from './send.ts'

/** Body of `/sms/outgoing/sendmulti` (ruling 2.6). */
const SendMulti = Type.Object(
  {
    messages: Type.Array(Send, {
      minItems: 1,
      maxItems: recipientsMax,
      expected: `an array of 1 to ${recipientsMax} objects`,
      description: 'The texts, each with its recipients: at most 1000 recipients in all.',
    }),
  },
  { title: 'SendMulti', expected: 'an object', description: 'Several texts, each with its recipients.' },
)

const readTexts = reader(SendMulti)

/** Reads a `SendMulti`. Refuses it if it has more than 1000 recipients in all (spec 8). */
function readSendMulti(body: unknown): readonly RequestedText[] | Failure {
  const read = readTexts(body)
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

const operation: Operation = {
  id: 'smsOutgoingSendMulti',
  tag: 'Sending',
  summary: 'Send several texts',
  description: 'Sends several texts, each to its own recipients: at most 1000 recipients in all.',
  body: SendMulti,
  repeatable: true,
  answer: {
    messages: Type.Array(
      answerObject('SentMessage', {
        message: Type.String({ description: 'The text, as in the request.' }),
        recipients: Type.Array(SentRecipientAnswer, {
          description: 'The results of its recipients, in the order of the request.',
        }),
      }),
      { description: 'One result for each text, in the order of the request.' },
    ),
  },
  examples: {
    'two texts': {
      body: {
        messages: [
          { message: 'one', recipients: [{ mobileNumber: '27825550101' }] },
          { message: 'two', recipients: [{ mobileNumber: '27825550103' }] },
        ],
      },
      answer: {
        messages: [
          {
            message: 'one',
            recipients: [acceptedExample],
          },
          {
            message: 'two',
            recipients: [refusedExample],
          },
        ],
      },
    },
    'no recipients': {
      body: { messages: [{ message: 'one', recipients: [] }] },
      answer: failure(
        'field-invalid',
        'messages.0.recipients must be an array of 1 to 1000 objects; got an empty array.',
      ),
    },
  },
}

/** Sends several texts, each to its own recipients, in one request (ruling 2.6). */
export const sendMulti = post(
  operation,
  readSendMulti,
  (call, texts) => sendTexts(call, texts, (sent) => `"messages":[${sent.map(messageJson).join()}]`),
  { workOf: recipientsIn },
)

function messageJson(sent: readonly SentRecipient<RequestedRecipient>[]): string {
  const [first] = sent
  if (first === undefined) throw new Error('the schema accepted a text without recipients')
  return `{"message":${JSON.stringify(first.recipient.text)},${recipientsField(sent)}}`
}
