import { notAvailable } from '../../answer.ts'
import { get } from '../../endpoint.ts'
import { readPage } from '../../page.ts'

/** getIncomingMessages (spec 4.1; ruling 2.10). */
export const incomingMessages = get(readPage, () => notAvailable('The list of incoming messages'))
