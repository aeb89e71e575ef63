import type { InboxMessage } from '@gateway/core/inbox'
import { formatMinute } from '@gateway/core/time'
import { Type } from 'typebox'
import { answerObject, MessageIdNumber, Minute, MobileNumber, orNull, type Operation } from '../../operation.ts'
import { failure } from '../../answer.ts'
import { pageAnswer, pageFields, pageQuery, getPage } from '../../page.ts'

const operation: Operation = {
  id: 'getIncomingMessages',
  tag: 'Incoming',
  summary: 'Incoming messages',
  description: 'Replies of the last 90 days, oldest first, without messages to short codes. Reading consumes nothing.',
  query: pageQuery,
  answer: pageAnswer(
    'incomingMessages',
    answerObject('IncomingMessage', {
      incomingApiMessageId: MessageIdNumber,
      mobileNumber: MobileNumber,
      receiveTime: Minute,
      messageText: Type.String({ description: 'The text as received.' }),
      outgoingApiMessageId: orNull(MessageIdNumber, 'The id of the message that was answered, or null.'),
    }),
  ),
  examples: {
    'first reply': {
      query: { offset: 0, limit: 1 },
      answer: {
        resultsOffset: 0,
        resultsLimit: 1,
        resultsTotalAvailable: 2,
        incomingMessages: [
          {
            incomingApiMessageId: 1,
            mobileNumber: '27825550101',
            receiveTime: '202610181000',
            messageText: 'Yes, thank you',
            outgoingApiMessageId: 1,
          },
        ],
      },
    },
    'limit too large': {
      query: { offset: 0, limit: 1001 },
      answer: failure(
        'invalid-parameter',
        'limit must be a whole number from 1 to 1000, written in digits only; got "1001".',
      ),
    },
  },
}

/**
 * Operation getIncomingMessages: replies of the last 90 days, without short code messages, oldest first (spec 4.1;
 * rulings 1.19, 2.10).
 */
export const incomingMessages = getPage(operation, async (call, page) =>
  pageFields(call, page, 'incomingMessages', await call.gateway.queries.listReplies(call.account, page), incomingJson),
)

const incomingJson = ({ id, from, at, text, answers }: InboxMessage): string =>
  `{"incomingApiMessageId":${id},"mobileNumber":${JSON.stringify(from)},"receiveTime":"${formatMinute(at)}"` +
  `,"messageText":${JSON.stringify(text)},"outgoingApiMessageId":${answers ?? null}}`
