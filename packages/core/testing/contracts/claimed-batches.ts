import type { StoredPorts } from '@gateway/core'
import { combined, type Contract } from './shared.ts'
import { agreeing } from './claimed-batches/agreeing.ts'
import { claiming } from './claimed-batches/claiming.ts'
import { fencing } from './claimed-batches/fencing.ts'
import { outcomes } from './claimed-batches/outcomes.ts'
import { queues } from './claimed-batches/queues.ts'
import { repeating } from './claimed-batches/repeating.ts'
import { sleeping } from './claimed-batches/sleeping.ts'
import { waiting } from './claimed-batches/waiting.ts'

/** Contract of the port `ClaimedBatches`. After each check every account has exactly the right credits. */
export const claimedBatchesContract: Contract<StoredPorts> = combined(
  claiming,
  fencing,
  outcomes,
  waiting,
  queues,
  agreeing,
  repeating,
  sleeping,
)
