import { notAvailable } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'

/** Moves credits between accounts (spec 4.2, rule 5; ruling 3.7). */
export const transferCredits: Endpoint = { wrongCredentials: 'Transfer=invalidUser', run: () => notAvailable }
