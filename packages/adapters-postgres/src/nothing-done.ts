import { NothingDoneError } from '@gateway/core'
import { isUnreachable } from './database-liveness.ts'
import type { WriteHealth } from './write-health.ts'
import { reasonOf } from './write-trouble.ts'

/**
 * Throws a `NothingDoneError` while commits wait for a standby, because a change begun now would be stored without its
 * caller getting a response.
 */
export function refuseWhileHeld(writes: Pick<WriteHealth, 'known'>): void {
  const known = writes.known()
  if (known?.reason === 'standby-away') throw new NothingDoneError(known.message)
}

/** Converts an error of one statement or transaction to a `NothingDoneError` if it means that nothing was done. */
export const sayIfNothingDone = (error: unknown): unknown =>
  error instanceof Error && (reasonOf(error) !== undefined || isUnreachable(error))
    ? new NothingDoneError(error.message, { cause: error })
    : error

/** Runs `work`. Throws a `NothingDoneError` if it is refused or its error means that nothing was done. */
export async function orNothingDone<T>(writes: Pick<WriteHealth, 'known'>, work: () => Promise<T>): Promise<T> {
  refuseWhileHeld(writes)
  try {
    return await work()
  } catch (error) {
    throw sayIfNothingDone(error)
  }
}
