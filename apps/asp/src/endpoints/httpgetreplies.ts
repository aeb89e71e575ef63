import { notAvailable } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'

/** Replies that have not been returned yet, each once (spec 4.2, rules 4 and 6). */
export const takeReplies: Endpoint = { wrongCredentials: 'FAIL&', run: () => notAvailable }
