import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** Moment at which a connection breaks: before the server receives the statement, after that, or after it answered. */
export type Cut = 'before-it-arrives' | 'after-it-arrived' | 'before-its-answer'

export interface CuttingProxy {
  readonly connectionString: string
  /**
   * Breaks the next connection that sends `text`, on the client's side only, so that the server does not notice, as
   * when a network fails. Resolves when the connection is broken.
   */
  cut(where: Cut, text: string): Promise<void>
  /** Breaks all connections, on the client's side only. */
  breakAll(): void
  /** Stops all data in both directions without closing connections. */
  readonly freeze: () => void
  /** Lets new connections work. Existing ones stay silent, as behind a firewall that has lost its state. */
  readonly thaw: () => void
  close(): Promise<void>
}

interface Armed {
  readonly where: Cut
  readonly text: string
  readonly done: () => void
}

/**
 * Opens a proxy to the server of `connectionString`, a URL whose parameter `host` is the folder of the server's socket.
 */
export async function cuttingProxy(connectionString: string): Promise<CuttingProxy> {
  const url = new URL(connectionString.replace('@/', '@localhost/'))
  const socketPath = `${url.searchParams.get('host') ?? ''}/.s.PGSQL.${url.searchParams.get('port') ?? '5432'}`
  const sockets = new Set<Socket>()
  const clients = new Set<Socket>()
  let armed: Armed | undefined
  const freezing = new Set<() => boolean>()
  let frozen = false

  const server = createServer((client) => {
    const upstream = connect(socketPath)
    let silent = frozen
    const isSilent = () => (silent ||= frozen)
    freezing.add(isSilent)
    client.on('close', () => freezing.delete(isSilent))
    let dropAnswer: Armed | undefined
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
    clients.add(client)
    client.on('close', () => clients.delete(client))
    const breakOff = ({ done }: Armed) => {
      client.destroy()
      done()
    }
    client.on('data', (data) => {
      if (isSilent()) return
      const now = armed !== undefined && data.includes(armed.text) ? armed : undefined
      if (now !== undefined) armed = undefined
      if (now?.where === 'before-its-answer') dropAnswer = now
      if (now?.where === 'before-it-arrives') {
        breakOff(now)
        return
      }
      upstream.write(data)
      if (now?.where === 'after-it-arrived') breakOff(now)
    })
    upstream.on('data', (data) => {
      if (isSilent() || client.destroyed) return
      if (dropAnswer === undefined) client.write(data)
      else breakOff(dropAnswer)
    })
    upstream.on('end', () => {
      if (!isSilent()) client.end()
    })
    client.on('end', () => upstream.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url.searchParams.delete('host')
  url.searchParams.delete('port')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)

  return {
    connectionString: url.href,
    cut: (where, text) => new Promise((done) => (armed = { where, text, done })),
    breakAll: () => {
      for (const client of clients) client.destroy()
    },
    freeze: () => {
      frozen = true
      for (const isSilent of freezing) isSilent()
    },
    thaw: () => {
      frozen = false
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
