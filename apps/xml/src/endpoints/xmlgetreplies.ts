import { formatMinute, type InboxMessage } from '@gateway/core'
import { endpoint } from '../endpoint.ts'
import { takenAnswer } from '../taken-answer.ts'
import { container, leaf } from '../writing/rendered.ts'

/** Replies, short code messages among them, each returned once (spec 4.3, rule 6; rulings 1.19, 1.20). */
export const takeReplies = endpoint({
  request: '_Replies',
  response: 'XMLGateway_Replies',
  draft: () => ({}),
  inside: {},
  check: (draft) => draft,
  answer: async ({ gateway, account }) =>
    takenAnswer(await gateway.takeReplies(account, 'with-short-codes'), writeReply),
})

const reply = container('Reply')
const [cli, dateReceived, text, sentMessageId] = [
  leaf('CLI'),
  leaf('DateReceived'),
  leaf('Message'),
  leaf('SentMessageID'),
]

const writeReply = (message: InboxMessage): string =>
  reply(
    cli(message.from) +
      dateReceived(formatMinute(message.at)) +
      text(message.text) +
      sentMessageId(message.answers ?? ''),
  )
