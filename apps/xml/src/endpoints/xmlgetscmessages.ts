import type { InboxMessage } from '@gateway/core/inbox'
import { formatMinute } from '@gateway/core/time'
import { XML_ROOT } from '@gateway/wire'
import { takingEndpoint } from '../endpoint.ts'
import { container, leaf } from '../rendered.ts'

/** Returns each short code message once (spec 4.3, rule 6; ruling 1.20). */
export const takeShortCodeMessages = takingEndpoint({
  request: '_SCmessages',
  response: XML_ROOT.xmlgetscmessages,
  take: (gateway, account) => gateway.commands.takeShortCodeMessages(account),
  write: (message) => writeShortCodeMessage(message),
})

const scMessage = container('SCmessage')
const [sc, cli, dateReceived, text] = [leaf('SC'), leaf('CLI'), leaf('DateReceived'), leaf('Message')]

const writeShortCodeMessage = (message: InboxMessage): string =>
  scMessage(
    sc(message.shortCode ?? '') + cli(message.from) + dateReceived(formatMinute(message.at)) + text(message.text),
  )
