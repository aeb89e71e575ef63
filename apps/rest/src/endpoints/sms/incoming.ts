import { formatMinute, type InboxMessage } from '@gateway/core'
import { get } from '../../endpoint.ts'
import { pageFields, readPage } from '../../page.ts'

/** getIncomingMessages: replies of the last 90 days, without short code messages, oldest first (spec 4.1; rulings 1.19, 2.10). */
export const incomingMessages = get(readPage, async ({ gateway, account }, page) =>
  pageFields(page, 'incomingMessages', await gateway.listReplies(account, page), incomingJson),
)

const incomingJson = ({ id, from, at, text, answers }: InboxMessage): string =>
  `{"incomingApiMessageId":${id},"mobileNumber":${JSON.stringify(from)},"receiveTime":"${formatMinute(at)}"` +
  `,"messageText":${JSON.stringify(text)},"outgoingApiMessageId":${answers ?? null}}`
