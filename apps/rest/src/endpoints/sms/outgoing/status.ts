import { formatCredits, formatMinute, type MessageId, type MessageStatus } from '@gateway/core'
import { post } from '../../../endpoint.ts'
import { readIds } from '../../../id-array.ts'
import { statusWords } from '../../../words.ts'

/** smsOutgoingStatus: one status per id, in request order (spec 4.1; ruling 2.7). */
export const status = post(readIds, async ({ gateway, account, now }, ids) => {
  const statuses = await gateway.queryStatus(account, ids)
  const nowText = formatMinute(now)
  return `"messageStatuses":[${statuses.map((status, i) => statusJson(ids[i], status, nowText)).join()}]`
})

function statusJson(id: MessageId | undefined, status: MessageStatus, now: string): string {
  const { word, code } = statusWords(status)
  const known = typeof status === 'object' ? status : undefined
  const delivered = word === 'DELIVERED'
  return (
    `{"apiMessageId":${id},"mobileNumber":"${known?.number ?? ''}","statusDelivered":${delivered}` +
    `,"statusErrorCode":"${delivered ? '' : word}","statusTime":"${known ? formatMinute(known.at) : now}"` +
    `,"creditCost":${known ? formatCredits(known.cost) : '0.0'},"status":"${word}","statusCode":${code}}`
  )
}
