import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

const lingerMs = 1000

/**
 * Keeps a connection that ends with the response to this request until the request has come whole, for 1 s at most. Closing while the
 * client still sends resets the connection, and the client may never read the response.
 */
export function closeAfterBody(request: IncomingMessage): void {
  const { socket } = request
  // Node calls it when the last response of the connection has ended.
  socket.destroySoon = () => {
    const close = () => Socket.prototype.destroySoon.call(socket)
    if (request.complete) {
      close()
      return
    }
    socket.end()
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    request.once('end', close).resume()
    socket.once('close', () => clearTimeout(timer))
  }
}
