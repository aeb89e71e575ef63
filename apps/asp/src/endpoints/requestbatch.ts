import { formatDate, formatTime, type MessageStatus } from '@gateway/core'
import type { Endpoint } from '../endpoint.ts'
import { echoed, listAnswer } from '../list-answer.ts'
import { foundFor, messageIds } from '../message-ids.ts'
import { NOTFOUND, statusText } from '../words.ts'

/** One status for each of 1 to 100 ids, in request order, echoed as given (spec 4.2, rule 3; rulings 1.16, 3.5). */
export const requestBatch: Endpoint = {
  wrongCredentials: 'FAIL&',
  run: async ({ gateway, account, parameters }) => {
    const given = messageIds(parameters)
    if (typeof given === 'string') return given
    const statuses = await foundFor<MessageStatus>(given, 'not-found', (ids) => gateway.queryStatus(account, ids))
    return listAnswer(statuses.map(({ text, found }) => `${echoed(text)}=${statusString(found)}`))
  },
}

const statusString = (status: MessageStatus): string =>
  typeof status === 'string'
    ? NOTFOUND
    : `${statusText(status.code)};${formatDate(status.at)};${formatTime(status.at)};${status.code}`
