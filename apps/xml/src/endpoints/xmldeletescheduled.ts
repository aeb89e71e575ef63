import type { Deletion } from '@gateway/core/messages'
import { DELETION, foundFor, XML_ROOT } from '@gateway/wire'
import type { Answer } from '../answer.ts'
import { type Call, endpoint } from '../endpoint.ts'
import { type RequestedMessage, checkMessageIds, idOf, messageIdElements, messageIdsDraft } from '../message-ids.ts'
import { container, leaf } from '../rendered.ts'

const idsMax = 1000

/**
 * Deletes 1 to 1000 scheduled messages. Returns one result for each id, in request order (spec 4.3; rulings 1.15, 4.6).
 */
export const deleteScheduled = endpoint({
  request: '_DeleteScheduled',
  response: XML_ROOT.xmldeletescheduled,
  draft: messageIdsDraft,
  inside: messageIdElements,
  slow: true,
  workOf: (requested) => requested.length,
  check: (draft) => {
    const requested = checkMessageIds(draft)
    return requested.length > idsMax && typeof requested !== 'string' ? 'too-many-message-ids' : requested
  },
  answer: remove,
})

async function remove({ gateway, account }: Call, requested: readonly RequestedMessage[]): Promise<Answer> {
  const found = await foundFor<RequestedMessage, Deletion>(requested, idOf, { outcome: 'not-found' }, (ids) =>
    gateway.commands.deleteScheduled(account, ids),
  )
  return { content: found.map(writeDeletion).join('') }
}

const deleteStatus = container('DeleteStatus')
const [messageId, cli, status] = [leaf('MessageID'), leaf('CLI'), leaf('Status')]

const writeDeletion = ({ item, found }: { readonly item: RequestedMessage; readonly found: Deletion }): string =>
  deleteStatus(messageId(item.id) + cli(item.cli) + status(DELETION[found.outcome]))
