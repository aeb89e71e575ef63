import { formatStamp } from '@gateway/core/time'
import { nextTryReason, type PushAttempt } from '@gateway/core/webhooks'
import { NEXT_TRY_REASON, PUSH_FAILURE, PUSH_RESULT } from '@gateway/wire'
import { Type } from 'typebox'
import { answerObject, oneOf, type Operation, orNull, Stamp } from '../../operation.ts'
import { getPage, pageAnswer, pageFields, pageQuery } from '../../page.ts'
import { idOf, noSuchWebhook } from '../../webhook-fields.ts'

const operation: Operation = {
  id: 'getWebhookAttempts',
  tag: 'Webhooks',
  summary: 'Attempts of a webhook',
  description:
    'The requests to a webhook of the last 30 days, the newest first: what it answered, and when the next try is.',
  query: pageQuery,
  answer: pageAnswer(
    'attempts',
    answerObject('WebhookAttempt', {
      listId: Type.String({ description: 'The `webhook-id` of the request, the same over all tries.' }),
      eventIds: Type.Array(Type.String(), { description: 'The ids of the events in it.' }),
      attempt: Type.Integer({ description: 'Which try of the list it was, from 1.' }),
      time: Stamp,
      milliseconds: Type.Integer({ description: 'How long it took.' }),
      httpStatus: orNull(Type.Integer(), 'The status of the answer; null if there was none.'),
      failure: orNull(
        oneOf(Object.values(PUSH_FAILURE), 'Why there was none.'),
        'Why there was no answer; null if there was one.',
      ),
      answerText: Type.String({ description: 'The beginning of the answer.' }),
      result: oneOf(Object.values(PUSH_RESULT), 'Dead: the tries are exhausted. Gone: it answered 410.'),
      nextTime: orNull(Stamp, 'When the next try is; null if there is none.'),
      nextTimeReason: oneOf(Object.values(NEXT_TRY_REASON), 'Why then, or why there is none.'),
    }),
  ),
  examples: {
    'a test that failed': {
      id: 1,
      query: { offset: 0, limit: 100 },
      answer: {
        resultsOffset: 0,
        resultsLimit: 100,
        resultsTotalAvailable: 1,
        attempts: [
          {
            listId: 'list-1',
            eventIds: ['test-1'],
            attempt: 1,
            time: '20261018100000000',
            milliseconds: 31,
            httpStatus: 500,
            failure: null,
            answerText: 'The database is locked.',
            result: 'failed',
            nextTime: '20261018100005000',
            nextTimeReason: 'schedule',
          },
        ],
      },
    },
  },
}

export const attempts = getPage(operation, async (call, page) => {
  const { gateway, account, parameter } = call
  const id = idOf(parameter)
  const found = id === 'no-such-webhook' ? undefined : await gateway.listAttempts(account, id, page)
  return found === undefined ? noSuchWebhook : pageFields(call, page, 'attempts', found, attemptJson)
})

function attemptJson(attempt: PushAttempt): string {
  const { list, events, tries, at, answer, verdict, next } = attempt
  const isAnswered = answer.outcome === 'answered'
  return JSON.stringify({
    listId: list,
    eventIds: events,
    attempt: tries,
    time: formatStamp(at),
    milliseconds: answer.milliseconds,
    httpStatus: isAnswered ? answer.status : null,
    failure: isAnswered ? null : PUSH_FAILURE[answer.failure],
    answerText: isAnswered ? answer.beginning : '',
    result: PUSH_RESULT[verdict],
    nextTime: next === undefined ? null : formatStamp(next),
    nextTimeReason: NEXT_TRY_REASON[nextTryReason(attempt)],
  })
}
