import type { Endpoint } from '../endpoint.ts'

/** Checks that the credentials are correct and the account is not locked (spec 5, rule 3; ruling 1.14). */
export const auth: Endpoint = {
  summary: 'Check credentials',
  takes: [],
  answers: ['Login=OK', 'Login=ACCOUNTLOCKED'],
  wrongCredentials: 'Login=FAIL',
  reads: true,
  run: ({ account }) => (account.locked ? 'Login=ACCOUNTLOCKED' : 'Login=OK'),
}
