import { connect, type Socket } from 'node:net'

/**
 * Client that writes arbitrary bytes and stores what it receives. Its connection does not keep the process of the tests
 * alive.
 */
export interface RawClient {
  readonly socket: Socket
  readonly received: () => string
  readonly closed: () => boolean
}

export const rawClient = (port: number, firstBytes = '', localAddress = '127.0.0.1'): RawClient => {
  let received = ''
  let closed = false
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.setEncoding('latin1')
  socket.on('data', (chunk) => {
    received += String(chunk)
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    closed = true
  })
  socket.unref()
  if (firstBytes !== '') socket.write(firstBytes)
  return { socket, received: () => received, closed: () => closed }
}
