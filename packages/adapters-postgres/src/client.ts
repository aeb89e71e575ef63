import type { EventEmitter } from 'node:events'
import { Client, Connection, type ClientConfig } from 'pg'
import { checkedClientOf, readServers, watchPrimary, type ServerReading } from './primary.ts'
import type { ServerAddress } from './server-address.ts'

/**
 * Creates a client. Its 'error' events are ignored so that a broken connection does not end the process; the query that
 * fails reports the error.
 */
export function createClient(address: ServerAddress, options: ClientConfig): Client {
  const Kind = clientOf(address)
  const client = new Kind(options)
  client.on('error', () => undefined)
  return client
}

/** Returns the class of all clients of one address, in the form that a pool expects. */
export const clientOf = (address: ServerAddress): typeof Client => checkedClientOf(address, plainClientOf(address))

/** Watches for another server to become the primary, until the returned function is called. */
export const watchServers = (address: ServerAddress): (() => void) => watchPrimary(address, plainClientOf(address))

/** Asks each server of an address for its role. */
export const serversOf = (address: ServerAddress): Promise<readonly ServerReading[]> =>
  readServers(address, plainClientOf(address))

function plainClientOf({ connectionString, tls, plainIfRefused }: ServerAddress): typeof Client {
  return class extends Client {
    constructor(options: ClientConfig | string = {}) {
      const own = typeof options === 'string' ? {} : options
      // A copy for each client, because the driver changes the object.
      const ssl = tls === undefined ? false : { ...tls }
      const connection = tls !== undefined && plainIfRefused ? new PreferringConnection({ ...own, ssl }) : undefined
      super({ ...own, connectionString, ssl, ...(connection && { connection }) })
    }
  }
}

/** Members of the driver's connection that its types do not declare. */
interface DriverConnection extends EventEmitter {
  readonly stream: EventEmitter & { end(): unknown }
  connect(port: number, host: string): void
  attachListeners(stream: unknown): void
}

const DriverConnection = Connection as unknown as new (options: object) => DriverConnection

/** Connection that continues without TLS if the server has none. The driver by itself would end the connection. */
class PreferringConnection extends DriverConnection {
  override connect(port: number, host: string): void {
    // Added before the listener of the driver, which reads the same answer.
    this.stream.once('data', (answer: Buffer) => {
      if (answer.toString() === 'N') this.#continueWithoutTls()
    })
    super.connect(port, host)
  }

  /**
   * Prevents what the driver does next, in the same turn, about this answer: it ends the stream and emits an error.
   * Both calls are replaced once, and the second one continues the start of the connection.
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
