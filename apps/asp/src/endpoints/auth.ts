import type { Endpoint } from '../endpoint.ts'

/** Whether credentials are right, and the account is not locked (spec 5, rule 3; ruling 1.14). */
export const auth: Endpoint = {
  wrongCredentials: 'Login=FAIL',
  reads: true,
  run: ({ account }) => (account.locked ? 'Login=ACCOUNTLOCKED' : 'Login=OK'),
}
