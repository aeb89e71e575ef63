import type { Asleep, Sleeper, Wakeups } from '@gateway/core/dispatch'
import { createListener } from '../listener.ts'
import type { ServerAddress } from '../server-address.ts'
import type { Log } from '../settings.ts'
import { channelOfIdle, fallIdle, leaveIdle } from '../sql/idle-dispatchers.ts'

/** Whose process has ended without a word is told so long, for nothing. */
const toldSeconds = 60

export interface PostgresWakeups extends Wakeups {
  /** Closes every sleeper. Bounded. */
  close(): Promise<void>
}

/**
 * A sleeper has a row, which the statements that make work due look for, and a connection that listens. It writes the
 * row over that connection: who cannot write it would not hear either.
 */
export function postgresWakeups(address: ServerAddress, connectionSeconds: number, log: Log): PostgresWakeups {
  const sleepers = new Set<Sleeper>()

  function sleeper(wake: () => void): Sleeper {
    const listener = createListener({
      address,
      connectionSeconds,
      applicationName: 'gateway due',
      channel: { askedBy: channelOfIdle },
      told: wake,
      failed: (error) => log.warn(`a dispatcher cannot be woken, and looks all the time: ${String(error)}`),
    })
    listener.start()
    let row: number | undefined

    async function sleep(): Promise<Asleep | 'deaf'> {
      const rows = await listener.run(fallIdle, { row, seconds: toldSeconds })
      const [come] = rows ?? []
      row = come?.id
      if (come === undefined) return 'deaf'
      return { nextDueMilliseconds: come.due_in === null ? undefined : Math.max(0, come.due_in) }
    }

    async function awake(): Promise<void> {
      if (row === undefined) return
      const left = row
      row = undefined
      await listener.run(leaveIdle, { row: left })
    }

    const its: Sleeper = {
      sleep,
      awake,
      close: async () => {
        sleepers.delete(its)
        await awake().catch(() => undefined)
        await listener.close()
      },
    }
    sleepers.add(its)
    return its
  }

  return {
    sleeper,
    close: async () => {
      await Promise.all([...sleepers].map((one) => one.close()))
    },
  }
}
