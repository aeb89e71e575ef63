import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** Relay to a port of 127.0.0.1 that delays all data in both directions and buffers any amount of it. */
export interface SlowLink {
  readonly port: number
  close(): Promise<void>
}

export async function openSlowLink(toPort: number, delayMilliseconds: number): Promise<SlowLink> {
  const sockets = new Set<Socket>()
  const pass = (from: Socket, to: Socket): void => {
    from.setNoDelay(true)
    sockets.add(from)
    // Timers of one duration fire in the order in which they were set.
    from.on('data', (octets) => setTimeout(() => to.writable && to.write(octets), delayMilliseconds))
    from.on('close', () => setTimeout(() => to.destroy(), delayMilliseconds))
    from.on('error', () => from.destroy())
  }
  const server = createServer((client) => {
    const upstream = connect(toPort, '127.0.0.1')
    pass(client, upstream)
    pass(upstream, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
