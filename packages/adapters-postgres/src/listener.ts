import type { Client } from 'pg'
import { createClient } from './client.ts'
import type { ServerAddress } from './server-address.ts'
import { valuesOf, type Statement } from './sql/statement.ts'
import { valueTypes } from './value-types.ts'
import { waitAtMost } from './wait-at-most.ts'

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

/**
 * Listens for notifications on a connection of its own, and reconnects when that is lost.
 *
 *   new --start--> connecting --connected--> listening --the connection is lost--> connecting; each --close--> closed
 */
export class Listener {
  readonly #options: ListenerOptions
  /** Connection that is open or being opened. */
  #client: Client | undefined
  /** Connection that listens. */
  #listening: Client | undefined
  #timer: NodeJS.Timeout | undefined
  #state: 'new' | 'started' | 'closed' = 'new'
  /** Number of failures since the connection last listened. */
  #failures = 0

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#state !== 'new') return
    this.#state = 'started'
    this.#tryToConnect()
  }

  /** Runs a statement on the listening connection; returns undefined if there is none. An error ends the connection. */
  async run<Values, Row>(statement: Statement<Values, Row>, values: NoInfer<Values>): Promise<Row[] | undefined> {
    const connection = this.#listening
    if (connection === undefined) return undefined
    try {
      const { rows } = await connection.query(statement.text, valuesOf(statement, values))
      return rows as Row[]
    } catch (error) {
      void connection.end()
      throw error
    }
  }

  /** Stops listening. Waits at most `seconds`. */
  async close(seconds = 1): Promise<void> {
    this.#state = 'closed'
    this.#listening = undefined
    clearTimeout(this.#timer)
    if (this.#client !== undefined) await waitAtMost(seconds, this.#client.end())
  }

  readonly #tryToConnect = (): void => {
    this.#connect().catch((error: unknown) => {
      if (this.#state === 'closed') return
      if (this.#failures++ === 0) this.#options.failed(error)
      this.#client?.removeListener('end', this.#lost)
      void this.#client?.end()
      this.#lost()
    })
  }

  async #connect(): Promise<void> {
    const { address, connectionSeconds, applicationName, notified } = this.#options
    const fresh = createClient(address, {
      application_name: applicationName,
      connectionTimeoutMillis: connectionSeconds * 1000,
      query_timeout: connectionSeconds * 1000,
      keepAlive: true,
      types: valueTypes,
    })
    this.#client = fresh
    fresh.on('notification', notified)
    fresh.on('error', () => undefined) // pg emits 'end' after 'error'
    fresh.once('end', this.#lost)
    await fresh.connect()
    await fresh.query(`listen ${await this.#channelOf(fresh)}`)
    this.#failures = 0
    this.#listening = fresh
    notified()
  }

  async #channelOf(connection: Client): Promise<string> {
    const { channel } = this.#options
    if (typeof channel === 'string') return channel
    const { rows } = await connection.query<{ channel: string }>(channel.query)
    return connection.escapeIdentifier(rows[0]?.channel ?? '')
  }

  readonly #lost = (): void => {
    if (this.#state === 'closed') return
    if (this.#listening !== undefined) {
      this.#listening = undefined
      this.#options.notified()
    }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#tryToConnect, pauseMilliseconds).unref()
  }
}
