import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'

const lingerMs = 1000

/**
 * Keeps a connection that ends with a response until the request has come whole, for 1 s at most, and for 1 s one that `isOver`. Closing
 * while the client still sends resets the connection, and the client may never read the response. `inFlight` are all responses that are not
 * closed.
 */
export function closeAfterBody(
  socket: Socket,
  inFlight: Iterable<ServerResponse>,
  isOver: (socket: Socket) => boolean,
): void {
  const close = () => Socket.prototype.destroySoon.call(socket)
  // Node calls it when the last response of the connection has ended, before that is closed.
  socket.destroySoon = () => {
    const request = [...inFlight].find(({ req }) => req.socket === socket && !req.complete)?.req
    if (request === undefined && !isOver(socket)) {
      close()
      return
    }
    socket.end(() => {
      const timer = setTimeout(() => socket.destroy(), lingerMs)
      socket.once('close', () => clearTimeout(timer))
    })
    request?.once('end', close).resume()
  }
}
