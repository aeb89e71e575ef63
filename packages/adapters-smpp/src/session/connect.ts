import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { SmppSettings } from '../settings.ts'

/** A connection that is being made. `ready` is called once bytes may be sent; over TLS, once the certificate was found good. */
export function connect({ host, port, tls }: Pick<SmppSettings, 'host' | 'port' | 'tls'>, ready: () => void): Socket {
  if (tls === undefined) return connectTcp({ host, port, noDelay: true }, ready)
  const { serverName = isIP(host) === 0 ? host : undefined, ca, cert, key } = tls
  const options = { host, port, minVersion: 'TLSv1.2' as const, servername: serverName ?? '', ca, cert, key }
  const socket = connectTls(options, ready)
  socket.setNoDelay(true)
  return socket
}
