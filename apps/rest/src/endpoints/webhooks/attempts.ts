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
    'The requests to a webhook in the last 30 days, newest first, with its responses and the time of the next try.',
  query: pageQuery,
  answer: pageAnswer(
    'attempts',
    answerObject('WebhookAttempt', {
      listId: Type.String({ description: 'The `webhook-id` of the request, which is the same for all tries.' }),
      eventIds: Type.Array(Type.String(), { description: 'The ids of the events in the list.' }),
      attempt: Type.Integer({ description: 'The number of the try of this list, from 1.' }),
      time: Stamp,
      milliseconds: Type.Integer({ description: 'The duration of the request.' }),
      httpStatus: orNull(Type.Integer(), 'The HTTP status of the response, or null if there was none.'),
      failure: orNull(
        oneOf(Object.values(PUSH_FAILURE), 'The reason why there was no response.'),
        'The reason why there was no response, or null if there was one.',
      ),
      answerText: Type.String({ description: 'The beginning of the response body.' }),
      result: oneOf(Object.values(PUSH_RESULT), 'Dead: the tries are exhausted. Gone: the webhook responded with 410.'),
      nextTime: orNull(Stamp, 'The time of the next try, or null if there is none.'),
      nextTimeReason: oneOf(
        Object.values(NEXT_TRY_REASON),
        'The reason for that time, or for the lack of another try.',
      ),
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
  const found = id === 'no-such-webhook' ? undefined : await gateway.queries.listAttempts(account, id, page)
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
