import type { Asleep, ClaimedBatches, Sleeper } from '@gateway/core/dispatch'
import { Listener } from '../listener.ts'
import type { ServerAddress } from '../server-address.ts'
import type { Log } from '../settings.ts'
import { channelOfIdle, fallIdle, leaveIdle } from '../sql/idle-dispatchers.ts'

/** Seconds after which a subscription ends unless it is renewed, in case its process has died. */
const subscriptionSeconds = 60

export interface PostgresWakeups extends Pick<ClaimedBatches, 'sleeper'> {
  /** Closes all sleepers, within a second or so. */
  close(): Promise<void>
}

/**
 * Creates wakeups. A sleeper has a row in the database and a listening connection. Statements that make messages due
 * look for such rows. The sleeper writes its row over the listening connection, so that it never relies on
 * notifications that it could not receive.
 */
export function postgresWakeups(address: ServerAddress, connectionSeconds: number, log: Log): PostgresWakeups {
  const sleepers = new Set<Sleeper>()

  function sleeper(wake: () => void): Sleeper {
    const listener = new Listener({
      address,
      connectionSeconds,
      applicationName: 'gateway due',
      channel: { query: channelOfIdle },
      notified: wake,
      failed: (error) => log.warn(`a dispatcher cannot be notified of due messages, and polls: ${String(error)}`),
    })
    listener.start()
    let row: number | undefined

    async function sleep(): Promise<Asleep | 'deaf'> {
      const rows = await listener.run(fallIdle, { row, seconds: subscriptionSeconds })
      const [come] = rows ?? []
      row = come?.id
      if (come === undefined) return 'deaf'
      return { nextDueMilliseconds: come.due_in === null ? undefined : Math.max(0, come.due_in) }
    }

    async function awake(): Promise<void> {
      if (row === undefined) return
      const ended = row
      row = undefined
      await listener.run(leaveIdle, { row: ended })
    }

    const made: Sleeper = {
      sleep,
      awake,
      close: async () => {
        sleepers.delete(made)
        await awake().catch(() => undefined)
        await listener.close()
      },
    }
    sleepers.add(made)
    return made
  }

  return {
    sleeper,
    close: async () => {
      await Promise.all([...sleepers].map((one) => one.close()))
    },
  }
}
