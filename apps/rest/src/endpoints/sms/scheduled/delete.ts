import { notAvailable } from '../../../answer.ts'
import { post } from '../../../endpoint.ts'
import { readIds } from '../../../id-array.ts'

/** deleteScheduledMessages (spec 4.1; ruling 2.8). */
export const deleteScheduled = post(readIds, () => notAvailable('The deletion of scheduled messages'))
