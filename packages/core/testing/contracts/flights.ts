import type { StoredPorts } from '@gateway/core'
import type { Contract } from './contract.ts'
import { claiming } from './flights/claiming.ts'
import { fencing } from './flights/fencing.ts'
import { outcomes } from './flights/outcomes.ts'
import { waiting } from './flights/waiting.ts'

/** What the port `Flights` promises. After each check no credit is missing and none too many. */
export const flightsContract: Contract<StoredPorts> = { ...claiming, ...fencing, ...outcomes, ...waiting }
