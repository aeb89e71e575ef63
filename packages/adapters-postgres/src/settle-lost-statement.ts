import { setTimeout as delay } from 'node:timers/promises'
import type { Connections } from './connections.ts'
import type { LostAnswer } from './errors.ts'
import { isUnreachable } from './database-liveness.ts'
import { endBackend } from './sql/server.ts'

const pauseMilliseconds = 50

/**
 * Uses `look` to find out whether work was committed whose connection broke before the answer. It ends the old server
 * process first, because that process may still commit until then. Ending it also ends its wait for a standby, so the
 * result is confirmed afterwards (`Connections.confirm`). Tries for `seconds`, also while the server restarts. Throws
 * if the time is up or the database is unreachable; then the outcome is unknown.
 */
export async function settleLostStatement<T>(
  connections: Connections,
  lost: LostAnswer,
  seconds: number,
  look: () => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + seconds * 1000
  return endLostStatement(connections, lost, seconds, async () => {
    const seen = await look()
    await before(deadline, connections.confirm())
    return seen
  })
}

/**
 * Does the same as `settleLostStatement` without confirming the result. It is for a `look` that writes, or whose result
 * no caller gets.
 */
export async function endLostStatement<T>(
  connections: Connections,
  { backend }: LostAnswer,
  seconds: number,
  look: () => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + seconds * 1000
  for (;;) {
    try {
      while ((await connections.run(endBackend, backend)).length > 0) {
        if (performance.now() > deadline) throw new Error('the server process of the lost connection does not end')
        await delay(pauseMilliseconds / 10)
      }
      return await look()
    } catch (error) {
      if (isUnreachable(error) || performance.now() > deadline) {
        throw new Error('whether the change was committed is unknown: the database does not answer', { cause: error })
      }
      await delay(pauseMilliseconds)
    }
  }
}

/** Waits for `confirmed`. Throws if the deadline passes; a later rejection is ignored. */
async function before(deadline: number, confirmed: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error('the database did not confirm a commit in time')),
      deadline - performance.now(),
    )
  })
  try {
    await Promise.race([confirmed, late])
  } finally {
    clearTimeout(timer)
    confirmed.catch(() => undefined)
  }
}
