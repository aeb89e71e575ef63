import { labelFields } from '@gateway/wire'
import { formatCredits } from '@gateway/core/credits'
import type { ScheduledMessage } from '@gateway/core/messages'
import { formatMinute } from '@gateway/core/time'
import {
  answerObject,
  CreditsNumber,
  labelProperties,
  MessageIdNumber,
  Minute,
  MobileNumber,
  type Operation,
} from '../../operation.ts'
import { failure } from '../../answer.ts'
import { pageAnswer, pageFields, pageQuery, getPage } from '../../page.ts'

const operation: Operation = {
  id: 'getScheduledMessages',
  tag: 'Scheduled',
  summary: 'Scheduled messages',
  description: 'Scheduled messages that can still be deleted, by due time, then by id.',
  query: pageQuery,
  answer: pageAnswer(
    'scheduledMessages',
    answerObject('ScheduledMessage', {
      apiMessageId: MessageIdNumber,
      mobileNumber: MobileNumber,
      submitTime: Minute,
      scheduledSendTime: Minute,
      creditCost: CreditsNumber,
      ...labelProperties,
    }),
  ),
  examples: {
    'first page': {
      query: { offset: 0, limit: 100 },
      answer: {
        resultsOffset: 0,
        resultsLimit: 100,
        resultsTotalAvailable: 1,
        scheduledMessages: [
          {
            apiMessageId: 3,
            mobileNumber: '27825550102',
            submitTime: '202610181000',
            scheduledSendTime: '202701010800',
            creditCost: 1,
          },
        ],
      },
    },
    'offset that is not a number': {
      query: { offset: 'first', limit: 100 },
      answer: failure(
        'invalid-parameter',
        'offset must be a whole number from 0 to 9007199254740991, written in digits only; got "first".',
      ),
    },
  },
}

/**
 * Operation getScheduledMessages: messages that can still be deleted, by due time, then id (spec 4.1; rulings 2.10,
 * 2.11).
 */
export const scheduledMessages = getPage(operation, async (call, page) =>
  pageFields(
    call,
    page,
    'scheduledMessages',
    await call.gateway.queries.listScheduled(call.account, page),
    scheduledJson,
  ),
)

const scheduledJson = ({ id, number, submitted, due, cost, ...labels }: ScheduledMessage): string =>
  `{"apiMessageId":${id},"mobileNumber":"${number}","submitTime":"${formatMinute(submitted)}"` +
  `,"scheduledSendTime":"${formatMinute(due)}","creditCost":${formatCredits(cost)}${labelFields(labels)}}`
