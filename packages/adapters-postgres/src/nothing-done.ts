import { NothingDoneError } from '@gateway/core'
import { isUnreachable } from './database-liveness.ts'
import type { WriteHealth } from './write-health.ts'
import { reasonOf } from './write-trouble.ts'

/**
 * Throws a `NothingDoneError` while commits wait for a standby: what is begun then would be stored, and told to nobody.
 */
export function refuseWhileHeld(writes: Pick<WriteHealth, 'known'>): void {
  const known = writes.known()
  if (known?.reason === 'standby-away') throw new NothingDoneError(known.message)
}

/** What one statement or transaction threw; a `NothingDoneError` where that says that nothing was done. */
export const sayIfNothingDone = (error: unknown): unknown =>
  error instanceof Error && (reasonOf(error) !== undefined || isUnreachable(error))
    ? new NothingDoneError(error.message, { cause: error })
    : error

/** `work`, refused and told so. */
export async function orNothingDone<T>(writes: Pick<WriteHealth, 'known'>, work: () => Promise<T>): Promise<T> {
  refuseWhileHeld(writes)
  try {
    return await work()
  } catch (error) {
    throw sayIfNothingDone(error)
  }
}
