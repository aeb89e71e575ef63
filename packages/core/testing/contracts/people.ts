import type { StoredPorts } from '@gateway/core'
import { loginFailuresContract } from './account-rates.ts'
import { operatorsContract } from './operators.ts'
import { secondFactorsContract } from './second-factors.ts'
import { sessionsContract } from './sessions.ts'
import { combined, type Contract } from './shared.ts'
import { usersContract } from './users.ts'

/** Contract of users, sessions, second factors, failed log-ins and operators. */
export const peopleContract: Contract<StoredPorts> = combined(
  usersContract,
  sessionsContract,
  secondFactorsContract,
  loginFailuresContract,
  operatorsContract,
)
