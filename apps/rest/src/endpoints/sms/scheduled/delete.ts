import { formatCredits } from '@gateway/core/credits'
import type { Deletion, MessageId } from '@gateway/core/messages'
import { Type } from 'typebox'
import { failure } from '../../../answer.ts'
import { MessageIds, readIds } from '../../../id-array.ts'
import {
  answerObject,
  CreditsNumber,
  MessageIdNumber,
  MobileNumber,
  oneOf,
  type Operation,
  post,
} from '../../../operation.ts'
import { idsIn } from '../../../request.ts'
import { DELETE_ERROR } from '../../../words.ts'

const operation: Operation = {
  id: 'deleteScheduledMessages',
  tag: 'Scheduled',
  summary: 'Delete scheduled messages',
  description: 'One result for each id, in the order of the request. Deleted messages are refunded.',
  body: MessageIds,
  answer: {
    deletedMessageStatuses: Type.Array(
      answerObject('DeletedMessage', {
        apiMessageId: MessageIdNumber,
        mobileNumber: MobileNumber,
        deleted: Type.Boolean({ description: 'True if the message was deleted and will not be sent.' }),
        deleteError: oneOf(Object.values(DELETE_ERROR), 'The reason why it was not deleted. Blank if it was.'),
        creditCost: { ...CreditsNumber, title: 'Refund', description: 'The refund, with exactly one decimal.' },
      }),
      { description: 'One result for each id, in the order of the request.' },
    ),
  },
  examples: {
    'scheduled, sent and unknown': {
      body: [3, 1, 999],
      answer: {
        deletedMessageStatuses: [
          { apiMessageId: 3, mobileNumber: '27825550102', deleted: true, deleteError: '', creditCost: 1 },
          { apiMessageId: 1, mobileNumber: '27825550101', deleted: false, deleteError: 'SENT', creditCost: 0 },
          { apiMessageId: 999, mobileNumber: '', deleted: false, deleteError: 'NOTFOUND', creditCost: 0 },
        ],
      },
    },
    'no ids': { body: [], answer: failure('no-message-ids', 'The array of message ids is empty.') },
  },
}

/** Operation deleteScheduledMessages: one result per id, in request order (spec 4.1; rulings 1.15, 2.8). */
export const deleteScheduled = post(
  operation,
  readIds,
  async ({ gateway, account }, ids) => {
    const deletions = await gateway.commands.deleteScheduled(account, ids)
    return `"deletedMessageStatuses":[${deletions.map((deletion, i) => deletionJson(ids[i], deletion)).join()}]`
  },
  { slow: true, workOf: idsIn },
)

function deletionJson(id: MessageId | undefined, deletion: Deletion): string {
  const number = deletion.outcome === 'not-found' ? '' : deletion.number
  const refunded = deletion.outcome === 'deleted' ? formatCredits(deletion.refunded) : '0.0'
  return (
    `{"apiMessageId":${id},"mobileNumber":"${number}","deleted":${deletion.outcome === 'deleted'}` +
    `,"deleteError":"${DELETE_ERROR[deletion.outcome]}","creditCost":${refunded}}`
  )
}
