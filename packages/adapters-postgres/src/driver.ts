import type { EventEmitter } from 'node:events'
import { isIP } from 'node:net'
import { Connection, Query, type Client, type ClientBase, type QueryResult } from 'pg'

/*
 * All that this package uses of `pg` beyond its documented interface. `driver.test.ts` checks it against the installed
 * version.
 */

/** Members of a client that its types do not declare. */
interface ClientInternals {
  readonly _ending: boolean
  readonly processID: number
  readonly connection: { ssl: unknown; readonly stream: { destroy(error: Error): void } }
  readonly connectionParameters: object
  readonly ssl: object | false
}

const internalsOf = (client: ClientBase): ClientInternals => client as unknown as ClientInternals

/** Returns true if the client has been ended, or is being ended. */
export const isEnding = (client: Client): boolean => internalsOf(client)._ending

/** Returns the server process that was announced when the connection was made (BackendKeyData of the protocol). */
export const announcedProcess = (client: ClientBase): number => internalsOf(client).processID

/** Closes the connection at once. The error is reported as that of the connection, so that a pool drops the client. */
export const breakConnection = (client: Client, error: Error): void =>
  internalsOf(client).connection.stream.destroy(error)

/** Address of a server. `name` is the host as configured, with which its certificate is compared. */
export interface ServerPlace {
  readonly name: string
  readonly host: string
  readonly port: number
}

/**
 * Sets the server of a client that has not connected yet. A host that begins with a slash is a Unix socket, without
 * TLS.
 */
export function setServer(client: Client, { name, host, port }: ServerPlace): void {
  const { connection, connectionParameters, ssl } = internalsOf(client)
  const isSocket = name.startsWith('/')
  Object.assign(client, { host, port })
  Object.assign(connectionParameters, { host: name, port })
  if (isSocket) for (const owner of [client, connection]) Object.assign(owner, { ssl: false })
  else if (ssl !== false && isIP(name) === 0) Object.assign(ssl, { servername: name })
}

/**
 * Runs a statement that is prepared under its name, as `client.query({ name, text, values })` does. The driver would
 * copy such an object with its property descriptors, which costs 2 to 3 µs a statement. It uses a `Query` object
 * without a copy.
 */
export const queryPrepared = (
  client: ClientBase,
  name: string,
  text: string,
  values: unknown[],
): Promise<QueryResult> =>
  new Promise((resolve, reject) => {
    const query = new Query(text, values)
    const callback = (error: Error | null, result: QueryResult): void =>
      error === null ? resolve(result) : reject(error)
    client.query(Object.assign(query, { name, callback }))
  })

/** Members of a connection that its types do not declare. */
interface DriverConnection extends EventEmitter {
  readonly stream: EventEmitter & { end(): unknown }
  connect(port: number, host: string): void
  attachListeners(stream: unknown): void
}

const DriverConnection = Connection as unknown as new (options: object) => DriverConnection

/** Connection that continues without TLS if the server has none. The driver by itself would end the connection. */
export class PreferringConnection extends DriverConnection {
  override connect(port: number, host: string): void {
    // Added before the listener of the driver, which reads the same answer.
    this.stream.once('data', (answer: Buffer) => {
      if (answer.toString() === 'N') this.#continueWithoutTls()
    })
    super.connect(port, host)
  }

  /**
   * Prevents the two calls that the driver makes next, in the same turn, because of this answer: it ends the stream and
   * emits an error. Both methods are replaced for one call each. The replacement of `emit` restores them and continues
   * the start of the connection.
   */
  #continueWithoutTls(): void {
    const { stream } = this
    Object.assign(stream, { end: () => stream })
    this.emit = () => {
      Reflect.deleteProperty(this, 'emit')
      Reflect.deleteProperty(stream, 'end')
      this.attachListeners(stream)
      return this.emit('sslconnect')
    }
  }
}
