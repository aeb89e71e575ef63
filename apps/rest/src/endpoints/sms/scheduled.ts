import { notAvailable } from '../../answer.ts'
import { get } from '../../endpoint.ts'
import { readPage } from '../../page.ts'

/** getScheduledMessages (spec 4.1; rulings 2.10, 2.11). */
export const scheduledMessages = get(readPage, () => notAvailable('The list of scheduled messages'))
