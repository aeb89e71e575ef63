import { notAvailable } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'
import { messageIds } from '../message-ids.ts'

/** Deletes scheduled messages (spec 4.2; rulings 1.15, 3.5). */
export const deleteScheduled: Endpoint = {
  wrongCredentials: 'FAIL&',
  run: ({ parameters }) => {
    const given = messageIds(parameters)
    return typeof given === 'string' ? given : notAvailable
  },
}
