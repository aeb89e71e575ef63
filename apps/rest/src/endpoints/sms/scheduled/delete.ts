import { formatCredits, type Deletion, type MessageId } from '@gateway/core'
import { post } from '../../../endpoint.ts'
import { readIds } from '../../../id-array.ts'
import { DELETE_ERROR } from '../../../words.ts'

/** deleteScheduledMessages: one result per id, in request order (spec 4.1; rulings 1.15, 2.8). */
export const deleteScheduled = post(
  readIds,
  async ({ gateway, account }, ids) => {
    const deletions = await gateway.deleteScheduled(account, ids)
    return `"deletedMessageStatuses":[${deletions.map((deletion, i) => deletionJson(ids[i], deletion)).join()}]`
  },
  { slow: true },
)

function deletionJson(id: MessageId | undefined, deletion: Deletion): string {
  const number = deletion.outcome === 'not-found' ? '' : deletion.number
  const refunded = deletion.outcome === 'deleted' ? formatCredits(deletion.refunded) : '0.0'
  return (
    `{"apiMessageId":${id},"mobileNumber":"${number}","deleted":${deletion.outcome === 'deleted'}` +
    `,"deleteError":"${DELETE_ERROR[deletion.outcome]}","creditCost":${refunded}}`
  )
}
