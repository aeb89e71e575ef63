import type { EventEmitter } from 'node:events'
import { Client, Connection, type ClientConfig } from 'pg'
import { checkedClientOf, readServers, watchPrimary, type ServerReading } from './primary.ts'
import type { ServerAddress } from './server-address.ts'

/** A connection to be made, which breaks without ending the process: what it breaks is told by what fails. */
export function createClient(address: ServerAddress, options: ClientConfig): Client {
  const Kind = clientOf(address)
  const client = new Kind(options)
  client.on('error', () => undefined)
  return client
}

/** The class of all clients of one address, as a pool wants it. */
export const clientOf = (address: ServerAddress): typeof Client => checkedClientOf(address, plainClientOf(address))

/** Notices when another server has become the primary, until what it returns is called. */
export const watchServers = (address: ServerAddress): (() => void) => watchPrimary(address, plainClientOf(address))

/** What each server of an address says it is. */
export const serversOf = (address: ServerAddress): Promise<readonly ServerReading[]> =>
  readServers(address, plainClientOf(address))

function plainClientOf({ connectionString, tls, plainIfRefused }: ServerAddress): typeof Client {
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

/** What the driver has of a connection beside what its types say. */
interface DriverConnection extends EventEmitter {
  readonly stream: EventEmitter & { end(): unknown }
  connect(port: number, host: string): void
  attachListeners(stream: unknown): void
}

const DriverConnection = Connection as unknown as new (options: object) => DriverConnection

/** Goes on without TLS where the server has none: the driver would end the connection. */
class PreferringConnection extends DriverConnection {
  override connect(port: number, host: string): void {
    // Before the listener of the driver, which reads the same answer.
    this.stream.once('data', (answer: Buffer) => {
      if (answer.toString() === 'N') this.#goOnWithoutTls()
    })
    super.connect(port, host)
  }

  /** What the driver does about the answer, at once: it ends the stream, and emits an error. */
  #goOnWithoutTls(): void {
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
