import { sql } from 'kysely'
import { createListener } from './listener.ts'
import type { ServerAddress } from './server-address.ts'
import type { Log } from './settings.ts'

/** Notifies other processes that accounts, keys or prices have changed. */
export interface Changes {
  /** Calls `changed` after a change, and when the listener was interrupted and may have missed one. */
  onChange(changed: () => void): void
  /** Starts listening, if that has not begun yet. To be called before anything is cached. */
  listen(): void
  /**
   * Waits for a change made by this process, then notifies its own listeners, even if it failed: it may have committed.
   */
  around<T>(change: Promise<T>): Promise<T>
  /** Stops listening. Waits at most `seconds`. */
  close(seconds?: number): Promise<void>
}

const channel = 'gateway_directory'

/** Expression in a statement that changes something, so that the notification is sent exactly when it commits. */
export const notifyOthers = sql<string>`pg_notify(${sql.lit(channel)}, '')`

/** Listens for changes of other processes. Only makes them visible earlier, because cached values expire in seconds. */
export function listenForChanges(address: ServerAddress, connectionSeconds: number, log: Log): Changes {
  const listeners: (() => void)[] = []
  const notify = () => {
    for (const changed of listeners) changed()
  }
  const listener = createListener({
    address,
    connectionSeconds,
    applicationName: 'gateway changes',
    channel,
    notified: notify,
    failed: (error) =>
      log.warn(`cannot listen for changes of accounts, which take effect a few seconds later: ${String(error)}`),
  })
  return {
    onChange: (changed) => void listeners.push(changed),
    listen: listener.start,
    around: (change) => change.finally(notify),
    close: listener.close,
  }
}

/** Changes for a process without a cache: nothing has to be dropped. */
export const listenToNobody = (): Changes => ({
  onChange: () => undefined,
  listen: () => undefined,
  around: (change) => change,
  close: () => Promise.resolve(),
})
