import type { Operators } from './operators.ts'
import type { SecondFactors } from './second-factors.ts'
import type { LoginFailures } from './secrets.ts'
import type { Sessions } from './sessions.ts'
import type { Users } from './users.ts'

/**
 * People who sign in: users of accounts with their sessions and second factors, operators with their sessions, and
 * failed log-ins.
 */
export interface People {
  readonly users: Users
  readonly sessions: Sessions
  readonly secondFactors: SecondFactors
  readonly loginFailures: LoginFailures
  readonly operators: Operators
}
