import { Client } from 'undici'

/** Pool of connections by origin. Each connection carries one request at a time. */
export interface ConnectionPool {
  /** Returns an idle connection to `origin` or opens one, so that no request waits for another. */
  take(origin: string): Client
  /** Returns a connection to the pool for the next request. */
  release(origin: string, client: Client): void
  close(): Promise<void>
}

/** Idle connections are closed after this time, or earlier if the server's Keep-Alive header asks for it. */
const idleMilliseconds = 4000

/** Maximum number of idle connections over all origins. */
const idleMax = 1000

/** Idle connections older than this are closed, because the DNS name may have changed. */
const ageMaxMilliseconds = 60_000

interface Idle {
  readonly client: Client
  readonly born: number
}

/**
 * Creates a pool. undici's own pool has one queue for all requests to an origin and reconnects after an aborted
 * request. In this pool each request has a connection of its own; the caller destroys the connection of an aborted
 * request.
 */
export function connectionPool(connect: Client.Options['connect']): ConnectionPool {
  const idle = new Map<string, Idle[]>()
  const births = new WeakMap<Client, number>()
  let idleCount = 0

  const open = (origin: string): Client => {
    const client = new Client(origin, {
      ...(connect && { connect }),
      pipelining: 1,
      keepAliveTimeout: idleMilliseconds,
      keepAliveMaxTimeout: idleMilliseconds,
      maxHeaderSize: 16 * 1024,
      // Off, because each request has a deadline of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    births.set(client, performance.now())
    return client.on('disconnect', () => forget(origin, client))
  }

  const forget = (origin: string, client: Client): void => {
    const clients = idle.get(origin) ?? []
    const at = clients.findIndex((each) => each.client === client)
    if (at === -1) return
    clients.splice(at, 1)
    idleCount -= 1
    if (clients.length === 0) idle.delete(origin)
    void client.destroy()
  }

  const takeIdle = (origin: string): Client | undefined => {
    const youngestBirth = performance.now() - ageMaxMilliseconds
    for (let last = idle.get(origin)?.pop(); last !== undefined; last = idle.get(origin)?.pop()) {
      idleCount -= 1
      if (last.born > youngestBirth) return last.client
      void last.client.destroy()
    }
    return undefined
  }

  return {
    take: (origin) => takeIdle(origin) ?? open(origin),
    release(origin, client) {
      if (idleCount >= idleMax) return void client.close()
      const clients = idle.get(origin) ?? []
      clients.push({ client, born: births.get(client) ?? 0 })
      idle.set(origin, clients)
      idleCount += 1
    },
    async close() {
      const all = [...idle.values()].flat()
      idle.clear()
      await Promise.all(all.map(({ client }) => client.destroy()))
    },
  }
}
