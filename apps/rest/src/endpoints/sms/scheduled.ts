import { formatCredits, formatMinute, type ScheduledMessage } from '@gateway/core'
import { get } from '../../endpoint.ts'
import { pageFields, readPage } from '../../page.ts'

/** getScheduledMessages: what waits and can still be deleted, by due time, then id (spec 4.1; rulings 2.10, 2.11). */
export const scheduledMessages = get(readPage, async ({ gateway, account }, page) =>
  pageFields(page, 'scheduledMessages', await gateway.listScheduled(account, page), scheduledJson),
)

const scheduledJson = ({ id, number, submitted, due, cost }: ScheduledMessage): string =>
  `{"apiMessageId":${id},"mobileNumber":"${number}","submitTime":"${formatMinute(submitted)}"` +
  `,"scheduledSendTime":"${formatMinute(due)}","creditCost":${formatCredits(cost)}}`
