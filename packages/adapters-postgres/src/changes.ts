import type { Client } from 'pg'
import { sql } from 'kysely'
import { createClient } from './client.ts'
import type { ServerAddress } from './server-address.ts'
import type { Log } from './settings.ts'
import { within } from './within.ts'

/** Tells other processes that accounts, keys or prices have changed. */
export interface Changes {
  /** Calls `changed` whenever something has changed, or may have without our hearing of it. */
  onChange(changed: () => void): void
  /** Begins to listen if nobody does yet: called before anything is remembered. */
  listen(): void
  /** Waits for a change that this process makes, then calls `changed` here, also if it failed: it may be done all the same. */
  around<T>(change: Promise<T>): Promise<T>
  /** Bounded. */
  close(seconds?: number): Promise<void>
}

const channel = 'gateway_directory'
const pauseMilliseconds = 1000

/** Part of the statement that changes something, so that it is told exactly when it is committed. */
export const notifyOthers = sql<string>`pg_notify(${sql.lit(channel)}, '')`

/**
 * Listens on a connection of its own, and again when that is lost. Only to hear early: what is remembered is forgotten by
 * itself after some seconds.
 */
export function listenForChanges(address: ServerAddress, connectionSeconds: number, log: Log): Changes {
  const listeners: (() => void)[] = []
  const tell = () => {
    for (const changed of listeners) changed()
  }
  let client: Client | undefined
  let timer: NodeJS.Timeout | undefined
  let state: 'idle' | 'listening' | 'closed' = 'idle'
  let failures = 0

  async function connect(): Promise<void> {
    const fresh = createClient(address, {
      application_name: 'gateway changes',
      connectionTimeoutMillis: connectionSeconds * 1000,
      keepAlive: true,
    })
    client = fresh
    fresh.on('notification', tell)
    fresh.on('error', () => undefined) // followed by 'end'
    fresh.once('end', retryLater)
    await fresh.connect()
    await fresh.query(`listen ${channel}`)
    failures = 0
    tell() // what changed while nobody listened
  }

  function retryLater(): void {
    if (state === 'closed') return
    clearTimeout(timer)
    timer = setTimeout(start, pauseMilliseconds)
    timer.unref()
  }

  function start(): void {
    connect().catch((error: unknown) => {
      if (state === 'closed') return
      if (failures++ === 0) log.warn(`changes of accounts are seen late, nobody listens for them: ${String(error)}`)
      client?.removeListener('end', retryLater)
      void client?.end()
      retryLater()
    })
  }

  return {
    onChange: (changed) => void listeners.push(changed),
    listen: () => {
      if (state !== 'idle') return
      state = 'listening'
      start()
    },
    around: (change) => change.finally(tell),
    close: async (seconds = 1) => {
      state = 'closed'
      clearTimeout(timer)
      if (client !== undefined) await within(seconds, client.end())
    },
  }
}

/** For a process that remembers nothing: nothing that it could forget has changed. */
export const listenToNobody = (): Changes => ({
  onChange: () => undefined,
  listen: () => undefined,
  around: (change) => change,
  close: () => Promise.resolve(),
})
