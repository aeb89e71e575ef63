import type { Client } from 'pg'
import { createClient } from './client.ts'
import type { ServerAddress } from './server-address.ts'
import { valuesOf, type Statement } from './sql/statement.ts'
import { valueTypes } from './value-types.ts'
import { waitAtMost } from './wait-at-most.ts'

/** Listens on a connection of its own, and again when that is lost. */
export interface Listener {
  readonly start: () => void
  /** Runs on the connection that listens; undefined: there is none. What fails there ends the connection. */
  run<Values, Row>(statement: Statement<Values, Row>, values: NoInfer<Values>): Promise<Row[] | undefined>
  /** Bounded. */
  readonly close: (seconds?: number) => Promise<void>
}

export interface ListenerOptions {
  readonly address: ServerAddress
  readonly connectionSeconds: number
  readonly applicationName: string
  /** The channel, or the statement that tells it as `channel`. */
  readonly channel: string | { readonly askedBy: string }
  /**
   * Something was told, or may have been without our hearing of it: nobody has listened until now, or listens from now
   * on.
   */
  readonly told: () => void
  /** The first failure of an outage. */
  readonly failed: (error: unknown) => void
}

const pauseMilliseconds = 1000

export function createListener(options: ListenerOptions): Listener {
  const { address, connectionSeconds, applicationName, told, failed } = options
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
    fresh.on('notification', told)
    fresh.on('error', () => undefined) // followed by 'end'
    fresh.once('end', lost)
    await fresh.connect()
    await fresh.query(`listen ${await channelOf(fresh)}`)
    failures = 0
    listening = fresh
    told()
  }

  async function channelOf(asked: Client): Promise<string> {
    if (typeof options.channel === 'string') return options.channel
    const { rows } = await asked.query<{ channel: string }>(options.channel.askedBy)
    return asked.escapeIdentifier(rows[0]?.channel ?? '')
  }

  function lost(): void {
    if (state === 'closed') return
    if (listening !== undefined) {
      listening = undefined
      told()
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
      const asked = listening
      if (asked === undefined) return undefined
      try {
        const { rows } = await asked.query(statement.text, valuesOf(statement, values))
        return rows as Row[]
      } catch (error) {
        void asked.end()
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
