import type { SecondFactors } from './second-factors.ts'
import type { LoginFailures } from './secrets.ts'
import type { Sessions } from './sessions.ts'
import type { Users } from './users.ts'

/** People who sign in for an account: users, sessions, second factors, and failed log-ins. */
export interface People {
  readonly users: Users
  readonly sessions: Sessions
  readonly secondFactors: SecondFactors
  readonly loginFailures: LoginFailures
}
