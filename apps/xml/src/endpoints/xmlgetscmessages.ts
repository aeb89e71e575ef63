import { formatMinute, type InboxMessage } from '@gateway/core'
import { endpoint } from '../endpoint.ts'
import { takenAnswer } from '../taken-answer.ts'
import { container, leaf } from '../writing/rendered.ts'

/** Short code messages, each returned once (spec 4.3, rule 6; ruling 1.20). */
export const takeShortCodeMessages = endpoint({
  request: '_SCmessages',
  response: 'XMLGateway_SCmessages',
  draft: () => ({}),
  inside: {},
  check: (draft) => draft,
  answer: async ({ gateway, account }) =>
    takenAnswer(await gateway.takeShortCodeMessages(account), writeShortCodeMessage),
})

const scMessage = container('SCmessage')
const [sc, cli, dateReceived, text] = [leaf('SC'), leaf('CLI'), leaf('DateReceived'), leaf('Message')]

const writeShortCodeMessage = (message: InboxMessage): string =>
  scMessage(
    sc(message.shortCode ?? '') + cli(message.from) + dateReceived(formatMinute(message.at)) + text(message.text),
  )
