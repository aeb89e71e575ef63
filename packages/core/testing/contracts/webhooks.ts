import type { StoredPorts } from '@gateway/core'
import { combined, type Contract } from './shared.ts'
import { configuring } from './webhooks/configuring.ts'
import { pushing } from './webhooks/pushing.ts'
import { pushingAhead } from './webhooks/pushing-ahead.ts'
import { replaying } from './webhooks/replaying.ts'
import { storing } from './webhooks/storing.ts'

/** Contract of the port `Webhooks`, and of the events that other ports cause. */
export const webhooksContract: Contract<StoredPorts> = combined(configuring, storing, pushing, pushingAhead, replaying)
