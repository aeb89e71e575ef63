import type { StoredPorts } from '@gateway/core'
import { loginFailuresContract } from './account-rates.ts'
import { secondFactorsContract } from './second-factors.ts'
import { sessionsContract } from './sessions.ts'
import type { Contract } from './shared.ts'
import { usersContract } from './users.ts'

/** Contract of users, sessions, second factors and failed log-ins. */
export const peopleContract: Contract<StoredPorts> = {
  ...usersContract,
  ...sessionsContract,
  ...secondFactorsContract,
  ...loginFailuresContract,
}
