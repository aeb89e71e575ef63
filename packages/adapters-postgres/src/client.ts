import { Client, type ClientConfig } from 'pg'
import { PreferringConnection } from './driver.ts'
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
      // Each client gets its own copy, because the driver changes the object.
      const ssl = tls === undefined ? false : { ...tls }
      const connection = tls !== undefined && plainIfRefused ? new PreferringConnection({ ...own, ssl }) : undefined
      super({ ...own, connectionString, ssl, ...(connection && { connection }) })
    }
  }
}
