import type { SentRecipient } from '@gateway/core'
import { Type } from 'typebox'
import { failure } from '../../../answer.ts'
import { post } from '../../../endpoint.ts'
import { answerObject, type Operation } from '../../../operation.ts'
import { recipientsIn } from '../../../request.ts'
import {
  readSendMulti,
  recipientsField,
  type RequestedRecipient,
  SendMulti,
  sendTexts,
  SentRecipientAnswer,
} from '../../../send-request.ts'

const operation: Operation = {
  id: 'smsOutgoingSendMulti',
  tag: 'Sending',
  summary: 'Send several texts',
  description: 'Several texts, each to its own numbers: at most 1000 recipients in all.',
  body: SendMulti,
  repeatable: true,
  answer: {
    messages: Type.Array(
      answerObject('SentMessage', {
        message: Type.String({ description: 'The text, as in the request.' }),
        recipients: Type.Array(SentRecipientAnswer, { description: 'Its numbers, in the order of the request.' }),
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
            recipients: [
              {
                clientMessageId: null,
                mobileNumber: '27825550101',
                accepted: true,
                acceptError: '',
                apiMessageId: 5,
                scheduledTime: null,
                creditCost: 1,
                newCreditBalance: 96,
              },
            ],
          },
          {
            message: 'two',
            recipients: [
              {
                clientMessageId: null,
                mobileNumber: '27825550103',
                accepted: false,
                acceptError: 'OPTEDOUT',
                apiMessageId: null,
                scheduledTime: null,
                creditCost: 0,
                newCreditBalance: 96,
              },
            ],
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

/** Several texts, each to its own numbers, in one call (ruling 2.6). */
export const sendMulti = post(
  operation,
  readSendMulti,
  (call, texts) => sendTexts(call, texts, (sent) => `"messages":[${sent.map(messageJson).join()}]`),
  { workOf: recipientsIn },
)

function messageJson(sent: readonly SentRecipient<RequestedRecipient>[]): string {
  const [first] = sent
  if (first === undefined) throw new Error('a text without recipients was let through')
  return `{"message":${JSON.stringify(first.recipient.text)},${recipientsField(sent)}}`
}
