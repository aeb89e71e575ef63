import { request, type Agent } from 'node:https'
import { connect } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { Ask } from './attempts.ts'
import type { Proxy } from './proxies.ts'

/** Returns a function that sends requests over TLS. It reuses connections if the agent keeps them open. */
export const askOver =
  ({ ca }: Pick<Proxy, 'ca'>, agent: Agent | false): Ask =>
  (url, { method = 'GET', headers, body }) =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method, ca, agent, headers: headers as Record<string, string> }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (piece: string) => (text += piece))
        answer.on('error', reject)
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: { get: (name) => String(answer.headers[name] ?? '') || null },
            text: () => Promise.resolve(text),
          }),
        )
      })
      sent.on('error', reject)
      sent.end(body)
    })

/** TLS connection over which a test writes arbitrary bytes. */
export interface RawTls {
  readonly socket: TLSSocket
  /** Resets the connection, like a client that crashes. */
  readonly reset: () => void
  /** Returns the number of received bytes. */
  readonly received: () => number
  readonly text: () => string
  readonly closed: () => boolean
}

export function rawTls({ ca, port }: Pick<Proxy, 'ca' | 'port'>, bytes: string): RawTls {
  const [pieces, state] = [[] as Buffer[], { closed: false, bytes: 0 }]
  const plain = connect(port, '127.0.0.1')
  const socket = connectTls({ socket: plain, servername: 'localhost', ca }, () => void socket.write(bytes))
  socket.on('data', (piece: Buffer) => {
    pieces.push(piece)
    state.bytes += piece.length
  })
  socket.on('error', () => undefined)
  socket.on('close', () => (state.closed = true))
  return {
    socket,
    reset: () => void plain.resetAndDestroy(),
    received: () => state.bytes,
    text: () => Buffer.concat(pieces).toString('latin1'),
    closed: () => state.closed,
  }
}
