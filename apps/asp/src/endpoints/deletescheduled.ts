import type { Deletion } from '@gateway/core'
import type { Endpoint } from '../endpoint.ts'
import { echoed, listAnswer } from '../list-answer.ts'
import { foundFor, messageIds } from '../message-ids.ts'
import { DELETION } from '../words.ts'

/** Deletes scheduled messages: one result for each of 1 to 100 ids, in request order, echoed as given (spec 4.2; rulings 1.15, 3.5). */
export const deleteScheduled: Endpoint = {
  wrongCredentials: 'FAIL&',
  run: async ({ gateway, account, parameters }) => {
    const given = messageIds(parameters)
    if (typeof given === 'string') return given
    const deletions = await foundFor<Deletion>(given, { outcome: 'not-found' }, (ids) =>
      gateway.deleteScheduled(account, ids),
    )
    return listAnswer(deletions.map(({ text, found }) => `${echoed(text)}=${DELETION[found.outcome]}`))
  },
}
