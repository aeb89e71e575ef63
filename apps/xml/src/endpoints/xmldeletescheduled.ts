import { endpoint } from '../endpoint.ts'
import { checkMessageIds, messageIdElements, messageIdsDraft } from '../message-ids.ts'

const idsMax = 1000

/** Deletes scheduled messages (spec 4.3): every check of the request is here, the deletion itself is not available yet. */
export const deleteScheduled = endpoint({
  request: '_DeleteScheduled',
  response: 'XMLGatewayDeleteScheduled_Response',
  draft: messageIdsDraft,
  inside: messageIdElements,
  check: (draft) => {
    const asked = checkMessageIds(draft)
    return asked.length > idsMax && typeof asked !== 'string' ? 'too-many-message-ids' : asked
  },
  answer: () => ({ trouble: 'not-available-yet' }),
})
