import { notAvailable } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'

/** Every opt-out entry, at every call (spec 4.2, rule 4). */
export const listOptOuts: Endpoint = { wrongCredentials: 'FAIL&', run: () => notAvailable }
