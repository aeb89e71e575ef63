import type { TransferRefusal } from '@gateway/core'
import { TRANSFER_ERROR } from '@gateway/wire'

/** The result of a transfer that was not made (spec 4.2, transfer results). */
export const TRANSFER_RESULT = { ...TRANSFER_ERROR, failed: 'Fail' } as const satisfies Record<TransferRefusal, string>
