import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A way to the database on which some answers do not come back. */
export interface HeldAnswers {
  readonly connectionString: string
  /** From now on a connection that sends one of these statements hears nothing any more; the statement is done. */
  hold(...statements: readonly string[]): void
  close(): Promise<void>
}

/** Between a process and the server of `connectionString`, which leads to a socket in a folder. */
export async function heldAnswers(connectionString: string): Promise<HeldAnswers> {
  const url = new URL(connectionString.replace('@/', '@localhost/'))
  const path = `${url.searchParams.get('host') ?? ''}/.s.PGSQL.${url.searchParams.get('port') ?? '5432'}`
  const sockets = new Set<Socket>()
  let held: readonly string[] = []
  const server = createServer((client) => {
    const upstream = connect(path)
    let isHeld = false
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    client.on('data', (data) => {
      isHeld ||= held.some((statement) => data.includes(statement))
      upstream.write(data)
    })
    upstream.on('data', (data) => {
      if (!isHeld) client.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  for (const parameter of ['host', 'port']) url.searchParams.delete(parameter)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    connectionString: url.href,
    hold: (...statements) => {
      held = statements
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
