import { hasOutcome, type MessageStatus } from '@gateway/core/messages'
import { formatMinute } from '@gateway/core/time'
import { labelFields, statusFields } from '@gateway/wire'
import { Type } from 'typebox'
import { failure, LongFields } from '../../../answer.ts'
import { MessageIds, readIds } from '../../../id-array.ts'
import { MessageStatusAnswer } from '../../../message-status.ts'
import { type Operation, post } from '../../../operation.ts'
import { idsIn } from '../../../request.ts'

const operation: Operation = {
  id: 'smsOutgoingStatus',
  tag: 'Sending',
  summary: 'Status',
  description: 'One status for each id, in the order of the request. An id of another account is unknown.',
  body: MessageIds,
  answer: {
    messageStatuses: Type.Array(MessageStatusAnswer, {
      description: 'One status for each id, in the order of the request.',
    }),
  },
  examples: {
    'delivered, waiting and unknown': {
      body: [1, 3, 999],
      answer: {
        messageStatuses: [
          {
            apiMessageId: 1,
            mobileNumber: '27825550101',
            statusDelivered: true,
            statusErrorCode: '',
            statusTime: '202610181000',
            creditCost: 1,
            status: 'DELIVERED',
            statusCode: 0,
          },
          {
            apiMessageId: 3,
            mobileNumber: '27825550102',
            statusDelivered: false,
            statusErrorCode: 'INQUEUE',
            statusTime: '202610181000',
            creditCost: 1,
            status: 'NOTFOUND',
            statusCode: -1,
          },
          {
            apiMessageId: 999,
            mobileNumber: '',
            statusDelivered: false,
            statusErrorCode: 'NOTFOUND',
            statusTime: '202610181000',
            creditCost: 0,
            status: 'NOTFOUND',
            statusCode: -2,
          },
        ],
      },
    },
    'id as a string': {
      body: ['1'],
      answer: failure(
        'invalid-message-id',
        'Every message id must be a whole number from 1 to 9007199254740991, written in digits only; got "1".',
      ),
    },
  },
}

/** Operation smsOutgoingStatus: one status per id, in request order (spec 4.1; ruling 2.7). */
export const status = post(
  operation,
  readIds,
  async ({ gateway, account, now }, ids) => {
    const statuses = await gateway.queries.queryStatus(account, ids)
    const restOf = restWriter(formatMinute(now))
    const elements = statuses.map(
      (status, i) =>
        `{"apiMessageId":${ids[i]},"mobileNumber":"${numberIn(status)}"${restOf(status)}${labelsIn(status)}}`,
    )
    return new LongFields(`"messageStatuses":[${elements.join()}]`)
  },
  { reads: true, workOf: idsIn },
)

const numberIn = (status: MessageStatus): string => (typeof status === 'object' ? status.number : '')

const labelsIn = (status: MessageStatus): string => (typeof status === 'object' ? labelFields(status) : '')

/**
 * Returns a function that renders the fields after the number. If a status equals the previous one, which is usual, the
 * function returns the same text again.
 */
function restWriter(now: string): (status: MessageStatus) => string {
  let last: MessageStatus | undefined
  let text = ''
  return (status) => {
    if (last === undefined || !isAlike(last, status)) text = `,${statusFields(status, now)}`
    last = status
    return text
  }
}

function isAlike(one: MessageStatus, other: MessageStatus): boolean {
  if (typeof one !== 'object' || typeof other !== 'object') return one === other
  if (one.code !== other.code || one.cost !== other.cost) return false
  if (!hasOutcome(one) || !hasOutcome(other)) return true
  return one.staysCharged === other.staysCharged && formatMinute(one.at) === formatMinute(other.at)
}
