import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Makes `close` of a response true for pipelined requests too. Node (seen on 20.20) never emits it for a response that
 * still waited behind another one when its connection broke, so whoever gives back a place on `close` would lose one each
 * time. Call it with each new response; it costs nothing for one that does not wait.
 */
export const closeQueuedResponses = () => {
  const waiting = new WeakMap<Socket, Set<ServerResponse>>()
  return (response: ServerResponse): void => {
    if (response.socket !== null) return
    const socket = response.req.socket
    let queue = waiting.get(socket)
    if (queue === undefined) {
      queue = new Set()
      waiting.set(socket, queue)
      const all = queue
      // Later than node's own listeners, which close the response that does not wait.
      socket.once('close', () => setImmediate(() => all.forEach(close)))
    }
    const own = queue.add(response)
    response.once('close', () => own.delete(response))
  }
}

const close = (response: ServerResponse) => {
  if (response.closed) return
  response.destroy()
  response.emit('close')
}
