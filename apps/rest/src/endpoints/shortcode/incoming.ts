import { formatMinute, type InboxMessage } from '@gateway/core'
import { get } from '../../endpoint.ts'
import { pageFields, readPage } from '../../page.ts'

/** getShortCodeMessages: those of the last 90 days, oldest first; an account without a code has none (spec 4.1; ruling 2.10). */
export const shortCodeMessages = get(readPage, async ({ gateway, account }, page) =>
  pageFields(page, 'shortcodeMessages', await gateway.listShortCodeMessages(account, page), shortCodeJson),
)

const shortCodeJson = ({ id, shortCode, from, at, text }: InboxMessage): string =>
  `{"incomingApiMessageId":${id},"shortCode":"${shortCode ?? ''}","mobileNumber":${JSON.stringify(from)}` +
  `,"receiveTime":"${formatMinute(at)}","messageText":${JSON.stringify(text)}}`
