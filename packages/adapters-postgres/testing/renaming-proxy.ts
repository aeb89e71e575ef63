import { connect, createServer, type AddressInfo } from 'node:net'

/**
 * Opens a proxy in front of the server of `connectionString` that announces a wrong process id for each connection, as
 * poolers do.
 */
export async function renamingProxy(
  connectionString: string,
): Promise<{ connectionString: string; close(): Promise<void> }> {
  const url = new URL(connectionString.replace('@/', '@localhost/'))
  const socketPath = `${url.searchParams.get('host') ?? ''}/.s.PGSQL.${url.searchParams.get('port') ?? '5432'}`
  const server = createServer((client) => {
    const upstream = connect(socketPath)
    client.pipe(upstream)
    upstream.on('data', (data) => {
      // BackendKeyData consists of 'K', the length 12, the process id and the key. The server sends it once, in its
      // answer to the startup message.
      const at = data.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]))
      if (at >= 0) data.writeInt32BE(data.readInt32BE(at + 5) + 1, at + 5)
      client.write(data)
    })
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => undefined)
      one.on('close', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url.searchParams.delete('host')
  url.searchParams.delete('port')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return { connectionString: url.href, close: () => new Promise((resolve) => server.close(() => resolve())) }
}
