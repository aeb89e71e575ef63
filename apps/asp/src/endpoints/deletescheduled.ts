import { type Deletion, parseMessageId } from '@gateway/core/messages'
import { DELETION, foundFor } from '@gateway/wire'
import { echoed, listAnswer } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'
import { messageIdCount, messageIdErrors, messageIdParameter, messageIds } from '../parameters.ts'

/**
 * Deletes scheduled messages: one result for each of 1 to 100 ids, in request order, echoed as given (spec 4.2; rulings
 * 1.15, 3.5).
 */
export const deleteScheduled: Endpoint = {
  summary: 'Delete scheduled messages',
  takes: [messageIdParameter],
  answers: [...Object.values(DELETION).map((word) => `<id>=${word}&`), ...messageIdErrors],
  wrongCredentials: 'FAIL&',
  slow: true,
  workOf: messageIdCount,
  run: async ({ gateway, account, parameters }) => {
    const given = messageIds(parameters)
    if (typeof given === 'string') return given
    const deletions = await foundFor<string, Deletion>(given, parseMessageId, { outcome: 'not-found' }, (ids) =>
      gateway.deleteScheduled(account, ids),
    )
    return listAnswer(deletions.map(({ asked, found }) => `${echoed(asked)}=${DELETION[found.outcome]}`))
  },
}
