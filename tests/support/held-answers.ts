import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** Relay to the database that can hold answers back. */
export interface HeldAnswers {
  readonly connectionString: string
  /**
   * From now on, holds back all answers on a connection that sends one of these statements. The statement is still
   * executed.
   */
  hold(...statements: readonly string[]): void
  close(): Promise<void>
}

/** Opens a relay between a process and the server of `connectionString`, which names a socket in a folder. */
export async function heldAnswers(connectionString: string): Promise<HeldAnswers> {
  const url = new URL(connectionString.replace('@/', '@localhost/'))
  const path = `${url.searchParams.get('host') ?? ''}/.s.PGSQL.${url.searchParams.get('port') ?? '5432'}`
  const sockets = new Set<Socket>()
  let delayedStatements: readonly string[] = []
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
      isHeld ||= delayedStatements.some((statement) => data.includes(statement))
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
      delayedStatements = statements
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
