import { type Deletion, parseMessageId } from '@gateway/core/messages'
import { DELETION, foundFor } from '@gateway/wire'
import { echoed, listAnswer } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'
import { messageIdCount, messageIdErrors, messageIdParameter, messageIds } from '../parameters.ts'

/**
 * Deletes 1 to 100 scheduled messages. Returns one result for each id, in request order, with the id as submitted (spec
 * 4.2; rulings 1.15, 3.5).
 */
export const deleteScheduled: Endpoint = {
  summary: 'Delete scheduled messages',
  takes: [messageIdParameter],
  answers: [...Object.values(DELETION).map((word) => `<id>=${word}&`), ...messageIdErrors],
  wrongCredentials: 'FAIL&',
  slow: true,
  workOf: messageIdCount,
  run: async ({ gateway, account, parameters }) => {
    const requested = messageIds(parameters)
    if (typeof requested === 'string') return requested
    const deletions = await foundFor<string, Deletion>(requested, parseMessageId, { outcome: 'not-found' }, (ids) =>
      gateway.commands.deleteScheduled(account, ids),
    )
    return listAnswer(deletions.map(({ item: id, found }) => `${echoed(id)}=${DELETION[found.outcome]}`))
  },
}
