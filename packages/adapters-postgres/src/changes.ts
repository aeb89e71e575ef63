import { sql } from 'kysely'
import { createListener } from './listener.ts'
import type { ServerAddress } from './server-address.ts'
import type { Log } from './settings.ts'

/** Tells other processes that accounts, keys or prices have changed. */
export interface Changes {
  /** Calls `changed` whenever something has changed, or may have without our hearing of it. */
  onChange(changed: () => void): void
  /** Begins to listen if nobody does yet: called before anything is remembered. */
  listen(): void
  /**
   * Waits for a change that this process makes, then calls `changed` here, also if it failed: it may be done all the
   * same.
   */
  around<T>(change: Promise<T>): Promise<T>
  /** Bounded. */
  close(seconds?: number): Promise<void>
}

const channel = 'gateway_directory'

/** Part of the statement that changes something, so that it is told exactly when it is committed. */
export const notifyOthers = sql<string>`pg_notify(${sql.lit(channel)}, '')`

/** Only to hear early: what is remembered is forgotten by itself after some seconds. */
export function listenForChanges(address: ServerAddress, connectionSeconds: number, log: Log): Changes {
  const listeners: (() => void)[] = []
  const tell = () => {
    for (const changed of listeners) changed()
  }
  const listener = createListener({
    address,
    connectionSeconds,
    applicationName: 'gateway changes',
    channel,
    told: tell,
    failed: (error) => log.warn(`changes of accounts are seen late, nobody listens for them: ${String(error)}`),
  })
  return {
    onChange: (changed) => void listeners.push(changed),
    listen: listener.start,
    around: (change) => change.finally(tell),
    close: listener.close,
  }
}

/** For a process that remembers nothing: nothing that it could forget has changed. */
export const listenToNobody = (): Changes => ({
  onChange: () => undefined,
  listen: () => undefined,
  around: (change) => change,
  close: () => Promise.resolve(),
})
