import type { Client } from 'pg'
import { createClient } from './client.ts'
import type { ServerAddress } from './server-address.ts'
import { valuesOf, type Statement } from './sql/statement.ts'
import { valueTypes } from './value-types.ts'
import { waitAtMost } from './wait-at-most.ts'

/** Listens for notifications on a connection of its own, and reconnects when that is lost. */
export interface Listener {
  readonly start: () => void
  /** Runs a statement on the listening connection; returns undefined if there is none. An error ends the connection. */
  run<Values, Row>(statement: Statement<Values, Row>, values: NoInfer<Values>): Promise<Row[] | undefined>
  /** Stops listening. Waits at most `seconds`. */
  readonly close: (seconds?: number) => Promise<void>
}

export interface ListenerOptions {
  readonly address: ServerAddress
  readonly connectionSeconds: number
  readonly applicationName: string
  /** Channel, or a query that returns its name in the column `channel`. */
  readonly channel: string | { readonly query: string }
  /** Called for each notification, and when listening begins or ends, because notifications may have been missed. */
  readonly notified: () => void
  /** Called for the first failure of an outage. */
  readonly failed: (error: unknown) => void
}

const pauseMilliseconds = 1000

export function createListener(options: ListenerOptions): Listener {
  const { address, connectionSeconds, applicationName, notified, failed } = options
  let client: Client | undefined
  let listening: Client | undefined
  let timer: NodeJS.Timeout | undefined
  let state: 'new' | 'started' | 'closed' = 'new'
  let failures = 0

  async function connect(): Promise<void> {
    const fresh = createClient(address, {
      application_name: applicationName,
      connectionTimeoutMillis: connectionSeconds * 1000,
      query_timeout: connectionSeconds * 1000,
      keepAlive: true,
      types: valueTypes,
    })
    client = fresh
    fresh.on('notification', notified)
    fresh.on('error', () => undefined) // pg emits 'end' after 'error'
    fresh.once('end', lost)
    await fresh.connect()
    await fresh.query(`listen ${await channelOf(fresh)}`)
    failures = 0
    listening = fresh
    notified()
  }

  async function channelOf(connection: Client): Promise<string> {
    if (typeof options.channel === 'string') return options.channel
    const { rows } = await connection.query<{ channel: string }>(options.channel.query)
    return connection.escapeIdentifier(rows[0]?.channel ?? '')
  }

  function lost(): void {
    if (state === 'closed') return
    if (listening !== undefined) {
      listening = undefined
      notified()
    }
    clearTimeout(timer)
    timer = setTimeout(tryToConnect, pauseMilliseconds)
    timer.unref()
  }

  function tryToConnect(): void {
    connect().catch((error: unknown) => {
      if (state === 'closed') return
      if (failures++ === 0) failed(error)
      client?.removeListener('end', lost)
      void client?.end()
      lost()
    })
  }

  return {
    start: () => {
      if (state !== 'new') return
      state = 'started'
      tryToConnect()
    },
    run: async <Values, Row>(statement: Statement<Values, Row>, values: Values) => {
      const connection = listening
      if (connection === undefined) return undefined
      try {
        const { rows } = await connection.query(statement.text, valuesOf(statement, values))
        return rows as Row[]
      } catch (error) {
        void connection.end()
        throw error
      }
    },
    close: async (seconds = 1) => {
      state = 'closed'
      listening = undefined
      clearTimeout(timer)
      if (client !== undefined) await waitAtMost(seconds, client.end())
    },
  }
}
