import { notAvailable } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'

/** Short code messages that have not been returned yet, each once (spec 4.2, rules 4 and 6). */
export const takeShortCodeMessages: Endpoint = { wrongCredentials: 'FAIL&', run: () => notAvailable }
