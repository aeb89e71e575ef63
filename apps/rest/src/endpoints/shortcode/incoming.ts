import { notAvailable } from '../../answer.ts'
import { get } from '../../endpoint.ts'
import { readPage } from '../../page.ts'

/** getShortCodeMessages (spec 4.1; ruling 2.10). */
export const shortCodeMessages = get(readPage, () => notAvailable('The list of short code messages'))
