import type { InboxMessage } from '@gateway/core/inbox'
import { formatMinute } from '@gateway/core/time'
import { Type } from 'typebox'
import { answerObject, MessageIdNumber, Minute, MobileNumber, type Operation } from '../../operation.ts'
import { pageAnswer, pageFields, pageQuery, getPage } from '../../page.ts'

const operation: Operation = {
  id: 'getShortCodeMessages',
  tag: 'Incoming',
  summary: 'Short code messages',
  description:
    'Messages of the last 90 days to the short or long codes of the account, oldest first. An account without a code has none.',
  query: pageQuery,
  answer: pageAnswer(
    'shortcodeMessages',
    answerObject('ShortCodeMessage', {
      incomingApiMessageId: MessageIdNumber,
      shortCode: Type.String({ description: 'The short or long code to which the message was sent.' }),
      mobileNumber: MobileNumber,
      receiveTime: Minute,
      messageText: Type.String({ description: 'The text as received.' }),
    }),
  ),
  examples: {
    'first page': {
      query: { offset: 0, limit: 100 },
      answer: {
        resultsOffset: 0,
        resultsLimit: 100,
        resultsTotalAvailable: 1,
        shortcodeMessages: [
          {
            incomingApiMessageId: 3,
            shortCode: '40404',
            mobileNumber: '27825550101',
            receiveTime: '202610181000',
            messageText: 'WIN',
          },
        ],
      },
    },
  },
}

/**
 * Operation getShortCodeMessages: messages of the last 90 days, oldest first. The list of an account without a short
 * code is empty (spec 4.1; ruling 2.10).
 */
export const shortCodeMessages = getPage(operation, async (call, page) =>
  pageFields(
    call,
    page,
    'shortcodeMessages',
    await call.gateway.queries.listShortCodeMessages(call.account, page),
    shortCodeJson,
  ),
)

const shortCodeJson = ({ id, shortCode, from, at, text }: InboxMessage): string =>
  `{"incomingApiMessageId":${id},"shortCode":"${shortCode ?? ''}","mobileNumber":${JSON.stringify(from)}` +
  `,"receiveTime":"${formatMinute(at)}","messageText":${JSON.stringify(text)}}`
