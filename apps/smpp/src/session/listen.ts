import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'

/** Certificate and key in PEM. */
export interface TlsSettings {
  readonly cert: string
  readonly key: string
}

export interface SmppListener {
  readonly port: number
  /** Uses another certificate for new connections. Throws if it does not match its key; the old one then stays. */
  reload(tls: TlsSettings): void
  /** Stops accepting connections. Open connections stay open. */
  close(): void
}

/** Milliseconds for the TLS handshake of a connection. */
const handshakeMilliseconds = 10_000
const backlog = 511

/**
 * Accepts connections on a port, with TLS if a certificate is passed. If the port cannot be used, throws an Error that
 * names the address, the setting and the remedy.
 */
export async function listenForSmpp(
  address: { readonly host: string; readonly port: number; readonly setting: 'SMPP_PORT' | 'SMPP_TLS_PORT' },
  connected: (socket: Socket) => void,
  tls?: TlsSettings,
): Promise<SmppListener> {
  const { host, port, setting } = address
  const server: Server | TlsServer =
    tls === undefined
      ? createServer(connected)
      : createTlsServer({ ...tls, minVersion: 'TLSv1.2', handshakeTimeout: handshakeMilliseconds }, connected)
  // A client that breaks off its handshake is not an error of the server.
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(host, port, setting, error)))
    server.listen(port, host, backlog, resolve)
  })
  server.removeAllListeners('error')
  server.on('error', () => undefined)
  return {
    port: (server.address() as AddressInfo).port,
    reload(next) {
      if ('setSecureContext' in server) server.setSecureContext({ ...next, minVersion: 'TLSv1.2' })
    },
    close: () => void server.close(),
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'another process uses this port; the test SMSC also uses 2775 by default. Stop it, or set PORT to a free one.',
  EACCES: 'this user may not use this port. Set PORT to 1024 or above.',
  EADDRNOTAVAIL: 'this machine has no such address. Set HOST to one of its own, or 0.0.0.0 for all.',
}

function cannotListen(host: string, port: number, setting: string, error: NodeJS.ErrnoException): Error {
  const advice = ADVICE[error.code ?? ''] ?? `${error.message}. Set HOST and PORT.`
  const address = host.includes(':') ? `[${host}]` : host
  return new Error(`Cannot listen on ${address}:${port}: ${advice.replace(/\bPORT\b/, setting)}`, { cause: error })
}
