import { setTimeout as delay } from 'node:timers/promises'
import type { Connections } from './connections.ts'
import type { LostAnswer } from './errors.ts'
import { isUnreachable } from './database-liveness.ts'
import { endBackend } from './sql/server.ts'

const pauseMilliseconds = 50

/**
 * Looks up what became of work whose answer was lost. The old backend may still be at it, so it is ended first: only
 * then is what can be seen the whole truth. That ends its wait for a standby, too, so what is seen counts once the
 * standby has it (`Connections.confirm`). Tries for `seconds`, also while the server starts again, but not once the
 * database is unreachable; then throws, and nobody knows.
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

/** The same for a `look` that writes, or tells nobody: what it tells is not confirmed. */
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
        if (performance.now() > deadline) throw new Error('the old backend does not end')
        await delay(pauseMilliseconds / 10)
      }
      return await look()
    } catch (error) {
      if (isUnreachable(error) || performance.now() > deadline) {
        throw new Error('what became of it cannot be found out: the database does not answer', { cause: error })
      }
      await delay(pauseMilliseconds)
    }
  }
}

/** Throws if it takes longer; nobody waits for it any more then. */
async function before(deadline: number, confirmed: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('a commit is not answered in time')), deadline - performance.now())
  })
  try {
    await Promise.race([confirmed, late])
  } finally {
    clearTimeout(timer)
    confirmed.catch(() => undefined)
  }
}
