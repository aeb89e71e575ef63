import { notAvailable } from '../../../answer.ts'
import { get, nothing } from '../../../endpoint.ts'

/** getIncomingOptoutMessages (spec 4.1; ruling 2.12). */
export const optOutMessages = get(nothing, () => notAvailable('The list of opt-outs'))
