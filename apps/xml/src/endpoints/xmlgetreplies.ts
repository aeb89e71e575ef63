import type { InboxMessage } from '@gateway/core/inbox'
import { formatMinute } from '@gateway/core/time'
import { XML_ROOT } from '@gateway/wire'
import { takingEndpoint } from '../endpoint.ts'
import { container, leaf } from '../rendered.ts'

/** Returns each reply once, including short code messages (spec 4.3, rule 6; rulings 1.19, 1.20). */
export const takeReplies = takingEndpoint({
  request: '_Replies',
  response: XML_ROOT.xmlgetreplies,
  take: (gateway, account) => gateway.commands.takeReplies(account, 'with-short-codes'),
  write: (message) => writeReply(message),
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
