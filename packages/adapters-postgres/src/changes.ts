import { sql } from 'kysely'
import { Listener } from './listener.ts'
import type { ServerAddress } from './server-address.ts'
import type { Log } from './settings.ts'

/** Notifies other processes that accounts, keys or prices have changed. */
export interface Changes {
  /** Calls `changed` after a change, and when the listener was interrupted and may have missed one. */
  onChange(changed: () => void): void
  /** Starts listening, if that has not begun yet. To be called before anything is cached. */
  listen(): void
  /**
   * Waits for a change made by this process, then notifies the listeners of this process. It notifies them also if the
   * change failed, because the change may have committed.
   */
  around<T>(change: Promise<T>): Promise<T>
  /** Stops listening. Waits at most `seconds`. */
  close(seconds?: number): Promise<void>
}

const channel = 'gateway_directory'

/**
 * SQL expression that notifies other processes. A statement that makes a change includes it, so that the notification
 * is sent exactly when the change commits.
 */
export const notifyOthers = sql<string>`pg_notify(${sql.lit(channel)}, '')`

/**
 * Listens for changes made by other processes. Without it, they would become visible a few seconds later, when the
 * cached values expire.
 */
export function listenForChanges(address: ServerAddress, connectionSeconds: number, log: Log): Changes {
  const listeners: (() => void)[] = []
  const notify = () => {
    for (const changed of listeners) changed()
  }
  const listener = new Listener({
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
    listen: () => listener.start(),
    around: (change) => change.finally(notify),
    close: (seconds) => listener.close(seconds),
  }
}

/** Implementation for a process without a cache, which needs no notifications. */
export const listenToNobody = (): Changes => ({
  onChange: () => undefined,
  listen: () => undefined,
  around: (change) => change,
  close: () => Promise.resolve(),
})
