import { hasOutcome, type MessageStatus, parseMessageId } from '@gateway/core/messages'
import { formatDate, formatTime } from '@gateway/core/time'
import { foundFor, statusWords } from '@gateway/wire'
import { echoed, listAnswer } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'
import { messageIdCount, messageIdErrors, messageIdParameter, messageIds } from '../parameters.ts'

/**
 * Returns the status of 1 to 100 messages, in request order, with each id as submitted (spec 4.2, rule 3; rulings 1.16,
 * 1.28, 3.5).
 */
export const requestBatch: Endpoint = {
  summary: 'Status',
  takes: [messageIdParameter],
  answers: [
    '<id>=<status>;<date>;<time>;<code>&',
    '<id>=<status>;<date>;<time>;<code>;<text>&',
    '<id>=<status>;<date>;<time>;<code>;<text>;<category>&',
    '<id>=NOTFOUND&',
    ...messageIdErrors,
  ],
  wrongCredentials: 'FAIL&',
  reads: true,
  workOf: messageIdCount,
  run: async ({ gateway, account, parameters }) => {
    const requested = messageIds(parameters)
    if (typeof requested === 'string') return requested
    const statuses = await foundFor<string, MessageStatus>(requested, parseMessageId, 'not-found', (ids) =>
      gateway.queries.queryStatus(account, ids),
    )
    return listAnswer(statuses.map(({ item: id, found }) => `${echoed(id)}=${statusString(found)}`))
  },
}

function statusString(status: MessageStatus): string {
  const { word } = statusWords(status)
  if (!hasOutcome(status)) return word
  const { at, code, reference, category } = status
  const parts = `${word};${formatDate(at)};${formatTime(at)};${code}`
  if (category !== undefined) return `${parts};${echoed(reference ?? '')};${echoed(category)}`
  return reference === undefined ? parts : `${parts};${echoed(reference)}`
}
