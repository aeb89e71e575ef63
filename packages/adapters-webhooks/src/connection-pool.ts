import { Client } from 'undici'

/** Connections by origin, each with one request at a time. */
export interface ConnectionPool {
  /** One that is idle, or a new one: nobody waits for another's request. */
  take(origin: string): Client
  /** Keeps it for the next request. */
  giveBack(origin: string, client: Client): void
  close(): Promise<void>
}

/** Idle ones are closed after 4 s, or earlier if the other side says so. */
const idleMilliseconds = 4000

/** Idle ones of all origins. */
const idleMax = 1000

/** Older ones are not used again: by then the name may have other addresses. */
const ageMaxMilliseconds = 60_000

interface Idle {
  readonly client: Client
  readonly born: number
}

/**
 * A pool of undici has one queue for all requests to an origin, and connects again after a request that was broken off.
 * Here a request has a connection of its own, and one that was broken off takes it along: the caller destroys it.
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
      // A request has its own deadline.
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
    giveBack(origin, client) {
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
