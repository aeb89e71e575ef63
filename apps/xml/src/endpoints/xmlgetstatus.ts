import { formatDate, formatTime, parseMessageId, type Instant } from '@gateway/core'
import type { Answer } from '../answer.ts'
import { endpoint, type Call } from '../endpoint.ts'
import { checkMessageIds, messageIdElements, messageIdsDraft, type AskedMessage } from '../message-ids.ts'
import { SKIPPED, statusWords } from '../words.ts'
import { container, leaf } from '../writing/rendered.ts'

const idsMax = 1000

/** The status of messages of the last 90 days; what is beyond 1000 ids has to be asked for again (spec 4.3, rule 5). */
export const queryStatus = endpoint({
  request: '_StatusRequest',
  response: 'XMLGatewayStatus_Response',
  draft: messageIdsDraft,
  inside: messageIdElements,
  check: checkMessageIds,
  answer: status,
})

async function status({ gateway, account, now }: Call, asked: readonly AskedMessage[]): Promise<Answer> {
  const ids = asked.slice(0, idsMax).map(({ id }) => parseMessageId(id))
  const found = (
    await gateway.queryStatus(
      account,
      ids.filter((id) => id !== undefined),
    )
  ).values()
  const content = asked.map((message, at) => {
    if (at >= idsMax) return writeStatus(message, SKIPPED, now)
    const state = (ids[at] === undefined ? undefined : found.next().value) ?? 'not-found'
    return writeStatus(message, statusWords(state), typeof state === 'string' ? now : state.at)
  })
  return { content: content.join('') }
}

const statusId = container('StatusID')
const [messageId, cli, word, dateTime, code] = [
  leaf('MessageID'),
  leaf('CLI'),
  leaf('Status'),
  leaf('StatusDateTime'),
  leaf('StatusCode'),
]

/** Not found and skipped at `now`, else since that state was reached (ruling 4.9). */
const writeStatus = (message: AskedMessage, shown: { readonly word: string; readonly code: number }, at: Instant) =>
  statusId(
    messageId(message.id) +
      cli(message.cli) +
      word(shown.word) +
      dateTime(`${formatDate(at)} ${formatTime(at)}`) +
      code(shown.code),
  )
