import { deliveryState, formatCredits, formatMinute, hasOutcome, type MessageStatus } from '@gateway/core'
import { statusWords } from '@gateway/wire'
import { post } from '../../../endpoint.ts'
import { readIds } from '../../../id-array.ts'
import { STATUS_ERROR_CODE } from '../../../words.ts'

/** smsOutgoingStatus: one status per id, in request order (spec 4.1; ruling 2.7). */
export const status = post(
  readIds,
  async ({ gateway, account, now }, ids) => {
    const statuses = await gateway.queryStatus(account, ids)
    const restOf = restWriter(formatMinute(now))
    const elements = statuses.map(
      (status, i) => `{"apiMessageId":${ids[i]},"mobileNumber":"${numberIn(status)}"${restOf(status)}`,
    )
    return `"messageStatuses":[${elements.join()}]`
  },
  { reads: true },
)

const numberIn = (status: MessageStatus): string => (typeof status === 'object' ? status.number : '')

/** Writes what follows the number. Mostly it is the same as of the one before. */
function restWriter(now: string): (status: MessageStatus) => string {
  let last: MessageStatus | undefined
  let text = ''
  return (status) => {
    if (last === undefined || !isAlike(last, status)) text = restJson(status, now)
    last = status
    return text
  }
}

function isAlike(one: MessageStatus, other: MessageStatus): boolean {
  if (typeof one !== 'object' || typeof other !== 'object') return one === other
  if (one.code !== other.code || one.cost !== other.cost) return false
  if (!hasOutcome(one) || !hasOutcome(other)) return true
  return one.taken === other.taken && formatMinute(one.at) === formatMinute(other.at)
}

function restJson(status: MessageStatus, now: string): string {
  const { word, code } = statusWords(status)
  const state = deliveryState(status)
  return (
    `,"statusDelivered":${state === 'delivered'},"statusErrorCode":"${STATUS_ERROR_CODE[state]}"` +
    `,"statusTime":"${hasOutcome(status) ? formatMinute(status.at) : now}"` +
    `,"creditCost":${typeof status === 'object' ? formatCredits(status.cost) : '0.0'}` +
    `,"status":"${word}","statusCode":${code}}`
  )
}
