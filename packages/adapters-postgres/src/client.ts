import type { EventEmitter } from 'node:events'
import { Client, Connection, type ClientConfig } from 'pg'
import type { ServerAddress } from './server-address.ts'

/** A connection to be made, which breaks without ending the process: what it breaks is told by what fails. */
export function createClient(address: ServerAddress, options: ClientConfig): Client {
  const Kind = clientOf(address)
  const client = new Kind(options)
  client.on('error', () => undefined)
  return client
}

/** The class of all clients of one server, as a pool wants it. */
export function clientOf({ connectionString, tls, plainIfRefused }: ServerAddress): typeof Client {
  return class extends Client {
    constructor(options: ClientConfig | string = {}) {
      const given = typeof options === 'string' ? {} : options
      // Its own options for each: the driver changes those that it is given.
      const ssl = tls === undefined ? false : { ...tls }
      const connection = tls !== undefined && plainIfRefused ? new PreferringConnection({ ...given, ssl }) : undefined
      super({ ...given, connectionString, ssl, ...(connection && { connection }) })
    }
  }
}

const noTls = 'The server does not support SSL connections'

/** What the driver has of a connection beside what its types say. */
interface DriverConnection extends EventEmitter {
  readonly stream: { end(): unknown }
  connect(port: number, host: string): void
  attachListeners(stream: unknown): void
}

const DriverConnection = Connection as unknown as new (options: object) => DriverConnection

/** Goes on without TLS where the server has none: the driver would end the connection. */
class PreferringConnection extends DriverConnection {
  override connect(port: number, host: string): void {
    const { stream } = this
    const end = stream.end.bind(stream)
    let refused = false
    stream.end = () => {
      refused = true
      return stream
    }
    const emit = this.emit.bind(this) as (event: string, ...values: unknown[]) => boolean
    this.emit = ((event: string, ...values: unknown[]) => {
      const [error] = values
      if (!refused || event !== 'error' || !(error instanceof Error)) return emit(event, ...values)
      Object.assign(stream, { end })
      if (error.message !== noTls) {
        end()
        return emit(event, ...values)
      }
      refused = false
      this.attachListeners(stream)
      return emit('sslconnect')
    }) as typeof this.emit
    super.connect(port, host)
    // Encrypted or not, it ends as it should from here on.
    this.once('sslconnect', () => Object.assign(stream, { end }))
  }
}
