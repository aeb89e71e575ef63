import { Type } from 'typebox'
import { failure } from '../../../answer.ts'
import { post } from '../../../endpoint.ts'
import type { Operation } from '../../../operation.ts'
import { recipientsIn } from '../../../request.ts'
import { readSend, recipientsField, Send, sendTexts, SentRecipientAnswer } from '../../../send-request.ts'

const operation: Operation = {
  id: 'smsOutgoingSend',
  tag: 'Sending',
  summary: 'Send one text',
  description:
    'One text to 1 to 1000 numbers. The text has up to 918 characters of GSM 7-bit, else up to 6 parts of UCS-2, and is not blank. ' +
    'A past `scheduledTime` sends at once. There is one result for each recipient, in the order of the request; who is refused ' +
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
          {
            clientMessageId: 'a-1',
            mobileNumber: '27825550101',
            accepted: true,
            acceptError: '',
            apiMessageId: 5,
            scheduledTime: null,
            creditCost: 1,
            newCreditBalance: 96,
          },
          {
            clientMessageId: null,
            mobileNumber: '0825550101',
            accepted: false,
            acceptError: 'BADDEST',
            apiMessageId: null,
            scheduledTime: null,
            creditCost: 0,
            newCreditBalance: 96,
          },
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
        recipients: [
          {
            clientMessageId: null,
            mobileNumber: '27825550101',
            accepted: true,
            acceptError: '',
            apiMessageId: 5,
            scheduledTime: '202701010000',
            creditCost: 1,
            newCreditBalance: 96,
          },
        ],
      },
    },
    'number that is no string': {
      body: { message: 'Your parcel is here', recipients: [{ mobileNumber: 27825550101 }] },
      answer: failure('field-invalid', 'recipients.0.mobileNumber must be a string of digits; got a number.'),
    },
  },
}

/** smsOutgoingSend: one text to 1 to 1000 numbers (spec 4.1; rulings 2.4, 2.5). */
export const send = post(
  operation,
  readSend,
  (call, text) => sendTexts(call, [text], ([sent]) => recipientsField(sent ?? [])),
  { workOf: recipientsIn },
)
