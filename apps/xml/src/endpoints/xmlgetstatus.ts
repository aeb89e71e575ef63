import { hasOutcome, type MessageStatus } from '@gateway/core/messages'
import { formatDate, formatTime, type Instant } from '@gateway/core/time'
import { inSlices } from '@gateway/server'
import { foundFor, statusWords, XML_ROOT } from '@gateway/wire'
import { type Answer, SKIPPED } from '../answer.ts'
import { type Call, endpoint } from '../endpoint.ts'
import { type RequestedMessage, checkMessageIds, idOf, messageIdElements, messageIdsDraft } from '../message-ids.ts'
import { container, leaf } from '../rendered.ts'

const idsMax = 1000
/** Length of one status with its elements, in characters. */
const statusLength = 200

/** Returns the status of messages of the last 90 days. Ids after the first 1000 are SKIPPED (spec 4.3, rule 5). */
export const queryStatus = endpoint({
  request: '_StatusRequest',
  response: XML_ROOT.xmlgetstatus,
  draft: messageIdsDraft,
  inside: messageIdElements,
  check: checkMessageIds,
  reads: true,
  workOf: (requested) => Math.min(requested.length, idsMax),
  answerBytes: (requested) => 2 * statusLength * requested.length,
  answer: async (call: Call, requested: readonly RequestedMessage[]): Promise<Answer> => {
    const found = await lookUp(call, requested.slice(0, idsMax))
    return { content: found + (await skip(call, requested.slice(idsMax))) }
  },
})

async function lookUp({ gateway, account, now }: Call, requested: readonly RequestedMessage[]): Promise<string> {
  const statuses = await foundFor<RequestedMessage, MessageStatus>(requested, idOf, 'not-found', (ids) =>
    gateway.queries.queryStatus(account, ids),
  )
  // Each row contains a time: that of the outcome, or the current time if there is no outcome yet (ruling 4.9).
  const rows = statuses.map(({ item: message, found }) =>
    writeStatus(message, statusWords(found), dateTimeOf(hasOutcome(found) ? found.at : now), labelsIn(found)),
  )
  return rows.join('')
}

/** Renders up to 120 000 skipped ids, in slices so that the event loop is not blocked. */
async function skip({ now }: Call, requested: readonly RequestedMessage[]): Promise<string> {
  const at = dateTimeOf(now)
  return (await inSlices(requested, (message) => writeStatus(message, SKIPPED, at))).join('')
}

const dateTimeOf = (at: Instant): string => `${formatDate(at)} ${formatTime(at)}`

const statusId = container('StatusID')
const [messageId, cli] = [leaf('MessageID'), leaf('CLI')]
const [word, dateTime, code] = [leaf('Status'), leaf('StatusDateTime'), leaf('StatusCode')]
const [reference, category] = [leaf('Reference'), leaf('Category')]

const writeStatus = (
  requested: RequestedMessage,
  status: { readonly word: string; readonly code: number },
  at: string,
  labels = '',
): string =>
  statusId(messageId(requested.id) + cli(requested.cli) + word(status.word) + dateTime(at) + code(status.code) + labels)

/** Renders the reference and the category of a message, if it has them (rulings 1.28, 1.30). */
function labelsIn(status: MessageStatus): string {
  if (typeof status !== 'object') return ''
  const called = status.reference === undefined ? '' : reference(status.reference)
  return called + (status.category === undefined ? '' : category(status.category))
}
